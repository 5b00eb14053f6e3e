# X_AC_SMARTCOLS - libsmartcols for the tables of sprice, required.
AC_DEFUN([X_AC_SMARTCOLS], [
	PKG_CHECK_MODULES([SMARTCOLS], [smartcols >= 2.33], [],
		[AC_MSG_ERROR([libsmartcols not found; on Debian: apt install libsmartcols-dev])])
])
