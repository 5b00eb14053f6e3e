#!/bin/bash
# manuals.sh - what is installed names only what is installed: manual pages name documents by their file's name alone, nothing of the
# sources; and links between documents lead somewhere. Run by "make check" in the build tree's tests/; $srcdir is the source tree's.
set -u
top=${srcdir:-$(dirname "$0")/..}/..
failed=0

fail()
{
	echo "FAIL: $*"
	failed=1
}

installed=$(sed -n '/^dist_doc_DATA/,/[^\\]$/p' "$top/doc/Makefile.am" | tr -d '\\\t')
for f in "$top"/doc/*.md "$top"/doc/*.svg; do
	grep -qx "${f##*/}" <<< "${installed// /$'\n'}" || fail "${f##*/} is not installed"
done
schemas=$(sed -n '/^dist_schemas_DATA/,/[^\\]$/p' "$top/doc/Makefile.am" | tr -d '\\\t')
for f in "$top"/doc/schemas/*.json; do
	grep -qx "schemas/${f##*/}" <<< "${schemas// /$'\n'}" || fail "schemas/${f##*/} is not installed"
done
grep -qx 'usr/share/doc/slurm-auction/schemas' "$top"/debian/slurm-auction.install && grep -qx '%{_docdir}/%{name}/schemas' "$top"/contrib/rpm/*.spec ||
	fail "schemas are in no package"
for page in sprice sbid sauction auctionsim; do
	grep -qx '\.I schemas/.*' "$top/doc/man/$page.1" || fail "$page.1 does not say what its JSON is valid by"
done
[ "$(grep -c '\.md' <<< "$installed")" -ge 10 ] || fail "hardly any document is installed: $installed"
for page in "$top"/doc/man/*.[158]; do
	# Roff's hyphens and marks are no part of a name.
	text=$(sed 's/\\-/-/g; s/\\f[A-Z]//g' "$page")
	while IFS= read -r name; do
		case $name in
		*/*) fail "${page##*/} names $name, which lies in no such place once installed" ;;
		*) grep -qw -- "$name" <<< "$installed" || fail "${page##*/} names $name, which is not installed" ;;
		esac
	done < <(grep -oE '[A-Za-z0-9_./-]+\.md' <<< "$text")
	while IFS= read -r name; do
		fail "${page##*/} names $name of the sources"
	done < <(grep -oE '(^|[ (.])(tests|contrib|common|plugins)/[A-Za-z0-9_./-]+' <<< "$text")
done
for page in "$top"/doc/*.md; do
	! grep -nE 'doc/[a-z-]+\.md' "$page" || fail "${page##*/} names a document by a folder that it is not in once installed"
	while IFS= read -r link; do
		[ -e "$top/doc/$link" ] || fail "${page##*/} has a link to $link, which there is not"
		[[ $link != */* ]] || fail "${page##*/} has a link to $link, which is not beside it once installed"
	done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//; s/#.*//' | grep -v '^https\?:' | grep .)
done
exit $failed
