def unknown_intrinsics(m):
    return []
