# X_AC_SANITIZERS - --enable-sanitizers[=address,undefined|thread]: instrument everything we build.
AC_DEFUN([X_AC_SANITIZERS], [
	AC_ARG_ENABLE([sanitizers],
		[AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@], [build with sanitizers (default LIST: address,undefined)])],
		[], [enable_sanitizers=no])
	AS_CASE([$enable_sanitizers],
		[no], [x_ac_sanitizers=none],
		[yes], [x_ac_sanitizers=address,undefined],
		[x_ac_sanitizers=$enable_sanitizers])
	AS_IF([test "x$x_ac_sanitizers" != xnone], [
		AUC_CFLAGS="$AUC_CFLAGS -fsanitize=$x_ac_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
		AUC_LDFLAGS="-fsanitize=$x_ac_sanitizers"
	])
	AC_SUBST([AUC_LDFLAGS])
])
