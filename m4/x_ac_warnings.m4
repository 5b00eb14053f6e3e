# X_AC_WARNINGS - flags every source is built with. Floating point must give the same decision from every compiler and level,
# so no contraction to fused operations.
AC_DEFUN([X_AC_WARNINGS], [
	AC_ARG_ENABLE([werror],
		[AS_HELP_STRING([--disable-werror], [do not treat warnings as errors])],
		[], [enable_werror=yes])
	AUC_CFLAGS="-std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings"
	AUC_CFLAGS="$AUC_CFLAGS -ffp-contract=off -fno-strict-aliasing"
	AS_IF([test "x$enable_werror" = xyes], [AUC_CFLAGS="$AUC_CFLAGS -Werror"])
	AC_SUBST([AUC_CFLAGS])
])
