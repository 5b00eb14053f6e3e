# X_AC_JSON_C - json-c, required.
AC_DEFUN([X_AC_JSON_C], [
	PKG_CHECK_MODULES([JSON_C], [json-c >= 0.15], [],
		[AC_MSG_ERROR([json-c 0.15 or later not found; on Debian: apt install libjson-c-dev])])
])
