/* Where an executable begins.
 *
 * Until glibc 2.34 an executable ran its own constructors, from a function that it gave to
 * __libc_start_main (glibc 2.33's csu/elf-init.c); newer start files give none. A newer glibc calls
 * the function where there is one, and then leaves constructors to it.
 */

typedef void constructor(int argc, char **argv, char **environment);

extern constructor *__init_array_start[], *__init_array_end[];
#pragma GCC visibility push(hidden)

void hirc_run_constructors(int argc, char **argv, char **environment) {
  for (constructor **each = __init_array_start; each != __init_array_end; each++)
    (*each)(argc, argv, environment);
}

#pragma GCC visibility pop

/* The System V ABI's entry: the stack holds argc and argv, rdx what atexit is to get.
 * __libc_start_main(main, argc, argv, constructors, destructors, rdx, stack). */
__asm__(".text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "  .cfi_startproc\n"
        "  .cfi_undefined rip\n"
        "  xorl %ebp, %ebp\n"
        "  movq %rdx, %r9\n"
        "  popq %rsi\n"
        "  movq %rsp, %rdx\n"
        "  andq $-16, %rsp\n"
        "  pushq %rax\n"
        "  pushq %rsp\n"
        "  xorl %r8d, %r8d\n"
        "  leaq hirc_run_constructors(%rip), %rcx\n"
        "  movq main@GOTPCREL(%rip), %rdi\n"
        "  call *__libc_start_main@GOTPCREL(%rip)\n"
        "  hlt\n"
        "  .cfi_endproc\n"
        ".size _start, .-_start\n");
