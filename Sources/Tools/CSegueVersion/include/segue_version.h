#ifndef SEGUE_VERSION_H
#define SEGUE_VERSION_H

/* The commit that this was built from; empty unless `make install` built it. The build passes it to C since a Swift file
   cannot be given a value. */
extern const char *const segue_commit;

#endif
