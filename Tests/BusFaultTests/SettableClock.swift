import BusSoak
import Foundation
import Testing

/// A wall clock for some processes alone, which is set by writing a file: a library that is loaded before all others and
/// moves CLOCK_REALTIME by as many seconds as stand there. Every other clock goes on evenly, as a real one does.
struct SettableClock: Sendable {
    private let directory: String
    /// What a process is started with.
    var environment: [String: String] { ["LD_PRELOAD": "\(directory)/clock.so", "CLOCK_OFFSET": "\(directory)/clock"] }

    private static let compiler = "/usr/bin/cc"
    static let isAvailable = FileManager.default.isExecutableFile(atPath: compiler)

    init(in arena: Arena) async throws {
        directory = arena.directory
        let source = "\(directory)/clock.c"
        try Self.source.write(toFile: source, atomically: true, encoding: .utf8)
        try set(by: .zero)
        let command = [Self.compiler, "-shared", "-fPIC", "-o", "\(directory)/clock.so", source]
        try #require(await arena.untilEnd(of: arena.start("cc", command)) == .exited(0))
    }

    /// - Parameter duration: from the machine's own clock.
    func set(by duration: Duration) throws {
        // One that is written in place might be read empty.
        try "\(duration.components.seconds)\n".write(toFile: "\(directory)/clock", atomically: true, encoding: .utf8)
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>

        static time_t offset(void) {
            int error = errno;
            char text[32] = "";
            int file = open(getenv("CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);
            if (file >= 0) {
                if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
                close(file);
            }
            errno = error;
            return atol(text);
        }

        int clock_gettime(clockid_t clock, struct timespec *now) {
            int status = syscall(SYS_clock_gettime, clock, now);
            if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
            return status;
        }

        int gettimeofday(struct timeval *restrict now, void *restrict zone) {
            struct timespec time;
            if (clock_gettime(CLOCK_REALTIME, &time) != 0) return -1;
            now->tv_sec = time.tv_sec;
            now->tv_usec = time.tv_nsec / 1000;
            return 0;
        }

        time_t time(time_t *now) {
            struct timespec time;
            clock_gettime(CLOCK_REALTIME, &time);
            if (now) *now = time.tv_sec;
            return time.tv_sec;
        }
        """
}
