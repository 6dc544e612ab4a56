#include "segue_version.h"

const char *const segue_commit = SEGUE_COMMIT;
