/* What the control thread asks of the connection manager: in a restored process, with the gate closed. */
#pragma once

int cm_rebuild(void); /* tells the new agent who listens where; 0, or -1 when it does not take it */
