# Drops rights and then becomes another program, in the same process (docs/decisions/0017):
#
#   perl launch.pl ARCHITECTURE LAYER,LAYER,... WRITABLE EXECUTABLES PROGRAM ARGUMENT ...
#
# ARCHITECTURE is x64 or arm64. With the layer "files", the program may create and delete files only in the directory WRITABLE, and read and execute
# only what is below the paths EXECUTABLES, one per line. Exits with 125 if a right cannot be dropped, and with 127 if the program cannot be executed.
#
# This is Perl, because every Debian has it. It uses no module, so that it starts in a few milliseconds.
use strict;
use warnings;

my ($architecture, $layers, $writable, $executables, @command) = @ARGV;
# The numbers of system calls have other meanings elsewhere.
$^O eq 'linux' or fail('not Linux');

my @NAMES = qw(sched_setscheduler prlimit64 unshare prctl capset setgroups setresgid setresuid);
my %NUMBERS = (
    x64   => [144, 302, 272, 157, 126, 116, 119, 117],
    arm64 => [119, 261, 97, 167, 91, 159, 149, 147],
);
my %number = (landlock_create_ruleset => 444, landlock_add_rule => 445, landlock_restrict_self => 446);
@number{@NAMES} = @{ $NUMBERS{$architecture} or fail("unknown architecture $architecture") };

sub fail {
    print STDERR "launch.pl: $_[0]\n";
    exit 125;
}

# Makes a system call that must succeed. Perl passes numbers as integers, and strings as pointers to their bytes.
sub must {
    my ($name, @arguments) = @_;
    my $result = syscall($number{$name}, @arguments);
    fail("$name: $!") if $result < 0;
    return $result;
}

my $NOBODY = 65534;
my $GIB = 1024**3;

# From linux/prctl.h.
my ($PR_SET_PDEATHSIG, $PR_SET_KEEPCAPS, $PR_CAPBSET_DROP, $PR_SET_NO_NEW_PRIVS) = (1, 8, 24, 38);

# The kernel kills the program when the service ends. A change of the user clears this setting.
sub die_with_service { must('prctl', $PR_SET_PDEATHSIG, 9, 0, 0, 0) }

# Not a restriction but a scheduling policy: a thread that becomes ready does not preempt another. Encoders benefit from the CPU cache for longer,
# which saves a twentieth of the CPU time.
sub batch {
    my $SCHED_BATCH = 3;
    must('sched_setscheduler', 0, $SCHED_BATCH, pack('i', 0));
}

# The limit for files is 5 GiB, because that is R2's maximum per PUT. ffmpeg 7.1 needs 1.5 GiB of address space, mostly for its threads.
sub limits {
    my ($FSIZE, $CORE, $NOFILE, $AS) = (1, 4, 7, 9);
    for ([$AS, 3 * $GIB], [$FSIZE, 5 * $GIB], [$NOFILE, 256], [$CORE, 0]) {
        my ($resource, $limit) = @$_;
        must('prlimit64', 0, $resource, pack('QQ', $limit, $limit), 0);
    }
}

# An ordinary user needs a user namespace, in which the user keeps the id.
sub network {
    my ($NEWIPC, $NEWUSER, $NEWNET) = (0x08000000, 0x10000000, 0x40000000);
    my ($user, $group) = ($>, $) + 0);
    return must('unshare', $NEWIPC | $NEWNET) if $user == 0;
    must('unshare', $NEWIPC | $NEWNET | $NEWUSER);
    my %maps = (setgroups => 'deny', uid_map => "$user $user 1", gid_map => "$group $group 1");
    for my $name (qw(setgroups uid_map gid_map)) {
        open(my $file, '>', "/proc/self/$name") or fail("$name: $!");
        syswrite($file, $maps{$name}) or fail("$name: $!");
    }
}

sub no_new_privs {
    must('prctl', $PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    die_with_service();
}

# Landlock: everything is forbidden except what a rule allows. Rights are bits of linux/landlock.h; a newer version of Landlock knows more of them.
sub files {
    my ($EXECUTE, $WRITE, $READ, $READ_DIR, $REMOVE_FILE, $MAKE_REG, $TRUNCATE) = map { 1 << $_ } (0, 1, 2, 3, 5, 8, 14);
    my $version = must('landlock_create_ruleset', 0, 0, 1);
    # Versions 1, 2, 3 and 5 know 13, 14, 15 and 16 rights.
    my $known = (1 << (13 + ($version >= 2) + ($version >= 3) + ($version >= 5))) - 1;
    my $rules = must('landlock_create_ruleset', pack('Q', $known), 8, 0);
    my $allow = sub {
        my ($path, $rights) = @_;
        my ($O_PATH, $PATH_BENEATH) = (010000000, 1);
        sysopen(my $file, $path, $O_PATH) or return;
        must('landlock_add_rule', $rules, $PATH_BENEATH, pack('Ql', $rights & $known, fileno($file)), 0);
    };
    $allow->($_, $EXECUTE | $READ | $READ_DIR) for split(/\n/, $executables);
    $allow->('/etc/ld.so.cache', $READ);
    # The C++ library of the ffprobe from npm aborts without it.
    $allow->('/dev/urandom', $READ);
    $allow->('/dev/null', $READ | $WRITE | $TRUNCATE);
    $allow->($writable, $READ | $WRITE | $TRUNCATE | $READ_DIR | $MAKE_REG | $REMOVE_FILE);
    # Landlock requires this, also if the layer that sets it does not work.
    must('prctl', $PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    must('landlock_restrict_self', $rules, 0);
}

# Only root can become another user.
sub user {
    # The kernel refuses the first number that is not a capability.
    my $EINVAL = 22;
    for my $capability (0 .. 63) {
        next if syscall($number{prctl}, $PR_CAPBSET_DROP, $capability, 0, 0, 0) == 0;
        $! == $EINVAL ? last : fail("bounding set: $!");
    }
    must('setgroups', 0, 0);
    must('setresgid', $NOBODY, $NOBODY, $NOBODY);
    must('prctl', $PR_SET_KEEPCAPS, 1, 0, 0, 0);
    must('setresuid', $NOBODY, $NOBODY, $NOBODY);
    # One capability is kept until the program starts, which then has none: npm installs programs that only the user of the service may execute.
    my ($VERSION_3, $DAC_OVERRIDE) = (0x20080522, 1 << 1);
    must('capset', pack('Ll', $VERSION_3, 0), pack('L6', $DAC_OVERRIDE, $DAC_OVERRIDE, (0) x 4));
    die_with_service();
}

my %LAYERS = (batch => \&batch, limits => \&limits, network => \&network, no_new_privs => \&no_new_privs, files => \&files, user => \&user);
for my $name (split(/,/, $layers)) { $LAYERS{$name}->() }
{ no warnings 'exec'; exec { $command[0] } @command }
print STDERR "launch.pl: $command[0]: $!\n";
exit 127;
