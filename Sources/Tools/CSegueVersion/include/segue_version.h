#ifndef SEGUE_VERSION_H
#define SEGUE_VERSION_H

/* The commit of the source. Empty unless the build sets SEGUE_COMMIT, as `make install` does. */
extern const char *const segue_commit;

/* The folder of the source. Empty if the build sets SEGUE_COMMIT: an installed program names no folder of the machine
   that has built it. */
extern const char *const segue_source;

#endif
