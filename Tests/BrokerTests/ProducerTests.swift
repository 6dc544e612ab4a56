import BusProtocol
import EventBus
import Testing

@testable import Broker

@Suite("What the broker knows of producers")
struct ProducerTests {
    /// Lets more than an hour pass, in which the broker listens all the time and forgets whom it may forget.
    private func listen(_ fixture: Fixture, isAlive: Bool) throws {
        for _ in 0...900 {
            try fixture.tick(after: .seconds(4))
            if isAlive { _ = fixture.ask(.hello(Greeting(producer: fixture.producer))) }
        }
    }

    private static let days: Duration = .seconds(8 * 24 * 3600)

    @Test("one that lives is never forgotten, however long ago it published")
    func idle() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            try fixture.tick(after: Self.days)
            try listen(fixture, isAlive: true)
            #expect(fixture.publish(sequence: 2, ["B"]) == fixture.published(2))
            #expect(fixture.publish(sequence: 1, ["A"]) == fixture.published(2), "it is known that this was taken")
        }
    }

    @Test("one that lives is not forgotten by a broker that starts again, whatever the clock has been set to")
    func clockThatJumps() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            try fixture.restart(wallShift: Self.days)
            try fixture.tick()
            #expect(fixture.publish(sequence: 2, ["B"]) == fixture.published(2))
            try fixture.restart(wallShift: Self.days * 2)
            try listen(fixture, isAlive: true)
            #expect(fixture.publish(sequence: 3, ["C"]) == fixture.published(3))
        }
    }

    @Test("one that has been silent for seven days is forgotten, and told where to begin")
    func silent() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            try listen(fixture, isAlive: false)
            #expect(fixture.journal.producers.count == 1)
            try fixture.tick(after: Self.days)
            #expect(fixture.journal.producers.count == 1, "the broker was away: it has heard nobody")
            try listen(fixture, isAlive: false)
            #expect(fixture.journal.producers.isEmpty)
            guard case .welcome(let welcome) = fixture.ask(.hello(Greeting(producer: fixture.producer))) else {
                Issue.record("a hello is not answered")
                return
            }
            #expect(welcome.sequence == 0)
            #expect(fixture.publish(sequence: 1, ["B"]) == fixture.published(2))
        }
    }
}
