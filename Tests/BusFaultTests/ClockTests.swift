import BusChecker
import BusSoak
import EventBus
import Foundation
import Testing

@Suite(
    "Changes of the clock",
    .enabled(if: SettableClock.isAvailable, "a C compiler is needed to set the clock of a process"))
struct ClockTests {
    private static let day: Duration = .seconds(24 * 3600)

    @Test(
        "Acknowledged messages stay and publishers continue after a change of the clock, across restarts",
        arguments: [day, day * -1, day * 30, day * -30])
    func jump(_ jump: Duration) async throws {
        try await Arena.with { arena in
            let clock = try await SettableClock(in: arena)
            let start = Date()
            let first = try await startBroker("first", clock, in: arena)
            let publisher = try await arena.startFixture(
                "publisher", "publish", ["--lanes", "2"], environment: clock.environment)
            try await goesOn("at first", arena)
            try clock.set(by: jump)
            try await goesOn("after the clock was set", arena)
            try await first.send(SIGKILL)
            // Until then it holds the locks of the bus.
            try await arena.waitUntilEnd(of: first)
            let second = try await startBroker("second", clock, in: arena)
            try await goesOn("after a start with that clock", arena)
            try clock.set(by: .zero)
            try await goesOn("after the clock was set right", arena)
            try await second.send(SIGKILL)
            // Until then it holds the locks of the bus.
            try await arena.waitUntilEnd(of: second)
            _ = try await startBroker("third", clock, in: arena)
            try await goesOn("after a start with the right clock", arena)
            try await publisher.send(SIGTERM)
            #expect(try await arena.waitUntilEnd(of: publisher) == .exited(0))

            let found = try await values(since: start, in: arena)
            #expect(Set(found).count == found.count)
            #expect(arena.acknowledged(by: "publisher").isSubset(of: Set(found)))
            if jump > .zero {
                let later = try await values(since: start + Double((jump / 2).components.seconds), in: arena)
                #expect(!later.isEmpty && later.count < found.count, "the broker's clock was indeed set")
            }
        }
    }

    private func startBroker(_ name: String, _ clock: SettableClock, in arena: Arena) async throws -> ChildProcess {
        // Without this option, retention would remove old messages.
        let command = ["broker", "--bus", arena.bus, "--journal", arena.journal, "--retain-age", "none"]
        return try await arena.start(name, command, environment: clock.environment)
    }

    private func goesOn(_ when: String, _ arena: Arena) async throws {
        let before = await arena.counts(of: "publisher").acknowledged
        try await arena.until("the publisher goes on \(when)") {
            $0["publisher"]?.acknowledged ?? 0 > before + 100
        }
    }

    private func values(since date: Date, in arena: Arena) async throws -> [Value] {
        try await arena.withBus { bus in try await bus.journal(from: .since(date)).compactMap(\.value) }
    }
}

/// A wall clock for some processes only. It is a library that is loaded before all others and moves CLOCK_REALTIME by
/// the number of seconds in a file. The other clocks are not moved.
struct SettableClock: Sendable {
    private let directory: String
    /// The environment of a process that uses this clock.
    var environment: [String: String] { ["LD_PRELOAD": "\(directory)/clock.so", "CLOCK_OFFSET": "\(directory)/clock"] }

    private static let compiler = "/usr/bin/cc"
    static let isAvailable = FileManager.default.isExecutableFile(atPath: compiler)

    init(in arena: Arena) async throws {
        directory = arena.directory
        let source = "\(directory)/clock.c"
        try Self.source.write(toFile: source, atomically: true, encoding: .utf8)
        try set(by: .zero)
        let command = [Self.compiler, "-shared", "-fPIC", "-o", "\(directory)/clock.so", source]
        try #require(await arena.waitUntilEnd(of: arena.start("cc", command)) == .exited(0))
    }

    /// - Parameter duration: The difference from the clock of the machine.
    func set(by duration: Duration) throws {
        // Atomically: a process could read a file that is written in place while it is empty.
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
