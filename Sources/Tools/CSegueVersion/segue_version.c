#include "segue_version.h"

const char *const segue_commit = SEGUE_COMMIT;
const char *const segue_source = SEGUE_SOURCE;
