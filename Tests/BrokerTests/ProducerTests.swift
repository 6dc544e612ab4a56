import BusFormat
import BusProtocol
import EventBus
import Testing

@testable import Broker

@Suite("Producers in the broker")
struct ProducerTests {
    /// Lets more than an hour pass, during which the broker listens and forgets silent producers.
    private func listen(_ fixture: Fixture, isAlive: Bool) throws {
        for _ in 0...1200 {
            try fixture.tick(after: .seconds(3))
            if isAlive { _ = fixture.ask(.hello(Greeting(producer: fixture.producer))) }
        }
    }

    /// Lets days pass during which the broker does not run.
    private func stop(_ fixture: Fixture) throws {
        fixture.now = fixture.now.advanced(by: Self.days)
        try fixture.tick()
    }

    private static let days: Duration = .seconds(8 * 24 * 3600)

    @Test("A producer that is alive is not forgotten, however long ago it published")
    func idle() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            try stop(fixture)
            try listen(fixture, isAlive: true)
            #expect(fixture.publish(sequence: 2, ["B"]) == fixture.published(2))
            #expect(fixture.publish(sequence: 1, ["A"]) == fixture.published(1), "it is known that this was taken")
        }
    }

    @Test("A producer that is alive is not forgotten by a restarted broker, whatever the clock shows")
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

    @Test(
        "A batch that is sent again is answered with its own position, also after a restart",
        arguments: [true, false])
    func repeated(isRestarted: Bool) throws {
        try Fixture.run { fixture in
            let other = ProducerID()
            for sequence in 1...4 as ClosedRange<UInt64> {
                _ = fixture.publish(sequence: sequence, sequence == 3 ? [] : ["A", "B"])
                let batch = PublishRequest(producer: other, sequence: sequence, messages: [Fixture.message("C")])
                _ = fixture.ask(.publish(batch))
            }
            if isRestarted { try fixture.restart() }
            let answers = (1...4 as ClosedRange<UInt64>).map { fixture.publish(sequence: $0, ["A"]) }
            // No message records the end of a batch without messages: the answer is the end of the last batch.
            #expect(answers == [2, 5, 9, 9].map(fixture.published))
            _ = fixture.publish(sequence: 5, ["A"])
            #expect(fixture.publish(sequence: 4, ["A"]) == fixture.published(9))
            #expect(fixture.publish(sequence: 5, ["A"]) == fixture.published(11))
        }
    }

    @Test("The producers that are silent for longest are forgotten first when there are too many")
    func tooMany() throws {
        try Fixture.run { fixture in
            let producers = (0..<20).map { _ in ProducerID() }
            for producer in producers {
                fixture.now = fixture.now.advanced(by: .seconds(1))
                let batch = PublishRequest(producer: producer, sequence: 1, messages: [Fixture.message("A")])
                _ = fixture.ask(.publish(batch))
            }
            let journal = fixture.journal
            try journal.transaction(at: fixture.time + 1) {
                try $0.forgetProducers(but: [producers[3]], keeping: 5)
            }
            let kept = Set([producers[3]] + producers[16...])
            #expect(Set(journal.producers.rows.keys) == kept)
            try fixture.restart()
            #expect(Set(fixture.journal.producers.rows.keys) == kept)
        }
    }

    @Test("A producer that is silent for seven days is forgotten, and its next hello starts at sequence 0")
    func silent() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            try listen(fixture, isAlive: false)
            #expect(fixture.journal.producers.rows.count == 1)
            try stop(fixture)
            #expect(fixture.journal.producers.rows.count == 1, "the broker was away: it has heard nobody")
            try listen(fixture, isAlive: false)
            #expect(fixture.journal.producers.rows.isEmpty)
            guard case .welcome(let welcome) = fixture.ask(.hello(Greeting(producer: fixture.producer))) else {
                Issue.record("a hello is not answered")
                return
            }
            #expect(welcome.sequence == 0)
            #expect(fixture.publish(sequence: 1, ["B"]) == fixture.published(2))
        }
    }
}
