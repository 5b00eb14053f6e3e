# X_AC_ZLIB - zlib, required.
AC_DEFUN([X_AC_ZLIB], [
	PKG_CHECK_MODULES([ZLIB], [zlib >= 1.2.8], [],
		[AC_MSG_ERROR([zlib 1.2.8 or later not found; on Debian: apt install zlib1g-dev])])
])
