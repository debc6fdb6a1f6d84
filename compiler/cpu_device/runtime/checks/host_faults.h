// Faults of the host's code in memory that it must not touch: see host_faults.c.
#ifndef HIRC_CHECKS_HOST_FAULTS_H
#define HIRC_CHECKS_HOST_FAULTS_H

void hirc_host_faults_install(void);
void hirc_host_faults_remove(void);

#endif
