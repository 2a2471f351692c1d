# Runs a command and prints the CPU seconds of all its descendants to file descriptor 3: perl cpu_seconds.pl ARCHITECTURE PROGRAM ARGUMENT ...
#
# A process knows the CPU time of the children that it has waited for. This one also adopts those that outlive their parent (Linux, x64 and arm64), such
# as workerd and Chromium, a third of the time of a run.
use strict;

my ($architecture, @command) = @ARGV;
my $PR_SET_CHILD_SUBREAPER = 36;
my %prctl = (x64 => 157, arm64 => 167);
syscall($prctl{$architecture}, $PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) if $^O eq 'linux' and $prctl{$architecture};

# The command does not inherit the file, because a process that outlives the run would keep it open.
my ($F_SETFD, $FD_CLOEXEC) = (2, 1);
open(my $result, '>&=', 3) or exit 127;
fcntl($result, $F_SETFD, $FD_CLOEXEC) or exit 127;
my $child = fork;
exec { $command[0] } @command or exit 127 if $child == 0;
$SIG{$_} = sub { kill $_[0], $child } for qw(INT TERM HUP);
my $pid;
do { $pid = wait } until $pid == $child or $pid == -1;
my $status = $?;
# Others end within moments.
my $WNOHANG = 1;
for (1 .. 100) {
    $pid = waitpid(-1, $WNOHANG);
    last if $pid == -1;
    select(undef, undef, undef, 0.02) if $pid == 0;
}
my (undef, undef, $user, $system) = times;
print $result $user + $system;
exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
