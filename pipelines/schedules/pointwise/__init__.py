"""Operations every iteration of which gives elements of the outputs by itself."""
