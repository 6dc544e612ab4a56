#ifndef SEGUE_VERSION_H
#define SEGUE_VERSION_H

/* The commit that this was built from, empty if it was not built in a git repository. Package.swift defines it: a value can
   be passed to C at build time, and not to Swift. */
extern const char *const segue_commit;

#endif
