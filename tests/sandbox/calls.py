"""Numbers of system calls on both machines, as the headers of Linux list them."""


def numbers(listed: str) -> dict[str, int]:
    """Each name with its number."""
    return {name: int(number) for name, _, number in (word.partition("=") for word in listed.split())}


DENIED = {
    "x86_64": numbers(
        """
        ptrace=101 syslog=103 vhangup=153 modify_ldt=154 pivot_root=155 adjtimex=159 chroot=161
        acct=163 settimeofday=164 mount=165 umount2=166 swapon=167 swapoff=168 reboot=169
        sethostname=170 setdomainname=171 iopl=172 ioperm=173 init_module=175 delete_module=176
        quotactl=179 nfsservctl=180 lookup_dcookie=212 clock_settime=227 kexec_load=246 add_key=248
        request_key=249 keyctl=250 unshare=272 perf_event_open=298 fanotify_init=300
        open_by_handle_at=304 clock_adjtime=305 setns=308 process_vm_readv=310 process_vm_writev=311
        kcmp=312 finit_module=313 kexec_file_load=320 bpf=321 userfaultfd=323 io_uring_setup=425
        io_uring_enter=426 io_uring_register=427 open_tree=428 move_mount=429 fsopen=430
        fsconfig=431 fsmount=432 fspick=433 pidfd_getfd=438 mount_setattr=442 quotactl_fd=443
        open_tree_attr=467
        """
    ),
    "aarch64": numbers(
        """
        lookup_dcookie=18 umount2=39 mount=40 pivot_root=41 nfsservctl=42 chroot=51 vhangup=58
        quotactl=60 acct=89 unshare=97 kexec_load=104 init_module=105 delete_module=106
        clock_settime=112 syslog=116 ptrace=117 reboot=142 sethostname=161 setdomainname=162
        settimeofday=170 adjtimex=171 add_key=217 request_key=218 keyctl=219 swapon=224 swapoff=225
        perf_event_open=241 fanotify_init=262 open_by_handle_at=265 clock_adjtime=266 setns=268
        process_vm_readv=270 process_vm_writev=271 kcmp=272 finit_module=273 bpf=280 userfaultfd=282
        kexec_file_load=294 io_uring_setup=425 io_uring_enter=426 io_uring_register=427
        open_tree=428 move_mount=429 fsopen=430 fsconfig=431 fsmount=432 fspick=433 pidfd_getfd=438
        mount_setattr=442 quotactl_fd=443 open_tree_attr=467
        """
    ),
}
"""Calls that are refused whatever their arguments are."""

ALLOWED = {
    "x86_64": numbers(
        """
        read=0 write=1 open=2 close=3 stat=4 fstat=5 lstat=6 poll=7 lseek=8 mmap=9 mprotect=10
        munmap=11 brk=12 rt_sigaction=13 rt_sigprocmask=14 pread64=17 pwrite64=18 readv=19 writev=20
        access=21 pipe=22 select=23 madvise=28 shmget=29 shmat=30 dup=32 dup2=33 pause=34
        nanosleep=35 alarm=37 getpid=39 sendfile=40 connect=42 accept=43 sendto=44 recvfrom=45
        sendmsg=46 recvmsg=47 shutdown=48 bind=49 listen=50 getsockname=51 setsockopt=54
        getsockopt=55 fork=57 vfork=58 execve=59 exit=60 wait4=61 kill=62 uname=63 semget=64
        msgget=68 fcntl=72 flock=73 fsync=74 fdatasync=75 ftruncate=77 getdents=78 getcwd=79
        chdir=80 fchdir=81 rename=82 mkdir=83 unlink=87 readlink=89 chmod=90 fchmod=91 chown=92
        fchown=93 umask=95 gettimeofday=96 getrlimit=97 getrusage=98 getuid=102 setuid=105
        setgid=106 setpgid=109 getpgrp=111 setsid=112 setgroups=116 getpgid=121 capget=125
        capset=126 utime=132 personality=135 statfs=137 setpriority=141 prctl=157 arch_prctl=158
        sync=162 gettid=186 setxattr=188 getxattr=191 time=201 futex=202 sched_setaffinity=203
        sched_getaffinity=204 epoll_create=213 getdents64=217 set_tid_address=218 clock_gettime=228
        clock_nanosleep=230 exit_group=231 epoll_wait=232 epoll_ctl=233 tgkill=234 waitid=247
        ioprio_set=251 inotify_init=253 inotify_add_watch=254 openat=257 mkdirat=258 mknodat=259
        fchownat=260 newfstatat=262 unlinkat=263 renameat=264 linkat=265 symlinkat=266
        readlinkat=267 fchmodat=268 faccessat=269 pselect6=270 ppoll=271 set_robust_list=273
        splice=275 tee=276 utimensat=280 epoll_pwait=281 signalfd=282 timerfd_create=283 eventfd=284
        fallocate=285 timerfd_settime=286 accept4=288 signalfd4=289 eventfd2=290 epoll_create1=291
        dup3=292 pipe2=293 inotify_init1=294 prlimit64=302 name_to_handle_at=303 getcpu=309
        sched_getattr=315 renameat2=316 seccomp=317 getrandom=318 memfd_create=319 execveat=322
        membarrier=324 mlock2=325 copy_file_range=326 statx=332 rseq=334 pidfd_send_signal=424
        pidfd_open=434 close_range=436 openat2=437 faccessat2=439 process_madvise=440
        epoll_pwait2=441 landlock_create_ruleset=444 landlock_add_rule=445
        landlock_restrict_self=446 memfd_secret=447 futex_waitv=449
        """
    ),
    "aarch64": numbers(
        """
        setxattr=5 getxattr=8 getcwd=17 eventfd2=19 epoll_create1=20 epoll_ctl=21 epoll_pwait=22
        dup=23 dup3=24 fcntl=25 inotify_init1=26 inotify_add_watch=27 ioprio_set=30 flock=32
        mknodat=33 mkdirat=34 unlinkat=35 symlinkat=36 linkat=37 renameat=38 statfs=43 ftruncate=46
        fallocate=47 faccessat=48 chdir=49 fchdir=50 fchmod=52 fchmodat=53 fchownat=54 fchown=55
        openat=56 close=57 pipe2=59 getdents64=61 lseek=62 read=63 write=64 readv=65 writev=66
        pread64=67 pwrite64=68 sendfile=71 pselect6=72 ppoll=73 signalfd4=74 splice=76 tee=77
        readlinkat=78 newfstatat=79 sync=81 fsync=82 fdatasync=83 timerfd_create=85
        timerfd_settime=86 utimensat=88 capget=90 capset=91 personality=92 exit=93 exit_group=94
        waitid=95 set_tid_address=96 futex=98 set_robust_list=99 nanosleep=101 clock_gettime=113
        clock_nanosleep=115 sched_setaffinity=122 sched_getaffinity=123 kill=129 tgkill=131
        rt_sigaction=134 rt_sigprocmask=135 setpriority=140 setgid=144 setuid=146 setpgid=154
        getpgid=155 setsid=157 setgroups=159 uname=160 getrlimit=163 getrusage=165 umask=166
        prctl=167 getcpu=168 gettimeofday=169 getpid=172 getuid=174 gettid=178 msgget=186 semget=190
        shmget=194 shmat=196 bind=200 listen=201 accept=202 connect=203 getsockname=204 sendto=206
        recvfrom=207 setsockopt=208 getsockopt=209 shutdown=210 sendmsg=211 recvmsg=212 brk=214
        munmap=215 execve=221 mmap=222 mprotect=226 madvise=233 accept4=242 wait4=260 prlimit64=261
        name_to_handle_at=264 sched_getattr=275 renameat2=276 seccomp=277 getrandom=278
        memfd_create=279 execveat=281 membarrier=283 mlock2=284 copy_file_range=285 statx=291
        rseq=293 pidfd_send_signal=424 pidfd_open=434 close_range=436 openat2=437 faccessat2=439
        process_madvise=440 epoll_pwait2=441 landlock_create_ruleset=444 landlock_add_rule=445
        landlock_restrict_self=446 memfd_secret=447 futex_waitv=449
        """
    ),
}
"""Calls that git, node, Python and the C library make."""

EXAMINED = {
    "x86_64": numbers(
        """
        ioctl=16 socket=41 socketpair=53 clone=56 clone3=435
        """
    ),
    "aarch64": numbers(
        """
        ioctl=29 socket=198 socketpair=199 clone=220 clone3=435
        """
    ),
}
"""Calls whose arguments decide."""
