import BusChecker
import BusSoak
import EventBus
import Foundation
import Testing

@Suite(
    "When the clock is set",
    .enabled(if: SettableClock.isAvailable, "a C compiler is needed to set the clock of a process"))
struct ClockTests {
    private static let day: Duration = .seconds(24 * 3600)

    @Test(
        "acknowledged messages stay, publishers go on and a time is found, while the broker runs and across its starts",
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
            let second = try await startBroker("second", clock, in: arena)
            try await goesOn("after a start with that clock", arena)
            try clock.set(by: .zero)
            try await goesOn("after the clock was set right", arena)
            try await second.send(SIGKILL)
            _ = try await startBroker("third", clock, in: arena)
            try await goesOn("after a start with the right clock", arena)
            try await publisher.send(SIGTERM)
            #expect(try await arena.untilEnd(of: publisher) == .exited(0))

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
        // What is thirty days old would go: that is what retention by age is for.
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
