/* Leads the references of objects that were opened with RTLD_DEEPBIND to the functions that this library takes over. */
#pragma once

/* The object that was opened last; what is opened from now on comes behind it. */
const void *rebind_last(void);
/* All objects behind that one. A constructor of theirs has run by then. */
void rebind_after(const void *last);
