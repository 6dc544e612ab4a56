#ifndef SEGUE_VERSION_H
#define SEGUE_VERSION_H

/* The commit of the source. Empty unless the build sets SEGUE_COMMIT, as `make install` does. */
extern const char *const segue_commit;

#endif
