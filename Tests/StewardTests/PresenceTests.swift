import BusFormat
import Foundation
import NATSLayout
import Testing

@testable import Steward

@Suite("Presence of clients")
struct PresenceTests {
    private let start = ContinuousClock.now
    private let producer = ProducerID()
    private let member = LiveClients.Member(consumer: "worker", id: UUID())

    private func time(_ seconds: Double) -> ContinuousClock.Instant { start + .milliseconds(Int(seconds * 1000)) }

    private func heartbeat() -> Heartbeat {
        Heartbeat(
            producer: producer, members: [.init(consumer: "worker", id: member.id, isExclusive: false)], seen: 0,
            epoch: 1)
    }

    /// Looks every 200 ms, and returns the first time at which both are silent.
    private func silence(_ presence: inout LiveClients, from: Double, to: Double) -> Double? {
        for now in stride(from: from, through: to, by: 0.2) {
            let silent = presence.check(holders: [producer], owners: [member], at: time(now))
            #expect(silent.producers.isEmpty == silent.members.isEmpty)
            if !silent.producers.isEmpty { return now }
        }
        return nil
    }

    @Test("A client is silent after 5 seconds without a heartbeat")
    func silence() throws {
        var presence = LiveClients(at: time(0))
        #expect(silence(&presence, from: 0, to: 3) == nil)
        _ = presence.handle(heartbeat(), at: time(3))
        let end = try #require(silence(&presence, from: 3.2, to: 20))
        #expect((8...8.5).contains(end))
    }

    @Test("A client has a whole lease when the steward starts, or has missed heartbeats")
    func grace() throws {
        var presence = LiveClients(at: time(0))
        let first = try #require(silence(&presence, from: 0, to: 20))
        #expect((5...5.5).contains(first))
        presence = LiveClients(at: time(0))
        #expect(silence(&presence, from: 0, to: 4.8) == nil)
        // The steward was stopped for 3 seconds.
        let second = try #require(silence(&presence, from: 8, to: 20))
        #expect((13...13.5).contains(second))
        presence = LiveClients(at: time(0))
        #expect(silence(&presence, from: 0, to: 4.8) == nil)
        presence.beginAnew(at: time(4.9))
        let third = try #require(silence(&presence, from: 5, to: 20))
        #expect((9.9...10.4).contains(third))
    }

    @Test("A client's problem is reported once, and again after it was gone")
    func problem() {
        let stalled = Heartbeat(
            producer: producer,
            members: [.init(consumer: "worker", id: member.id, isExclusive: false, problem: "has no claim")], seen: 0,
            epoch: 1)
        var presence = LiveClients(at: time(0))
        #expect(presence.handle(stalled, at: time(0)).map(\.problem) == ["has no claim"])
        #expect(presence.handle(stalled, at: time(1)).isEmpty)
        #expect(presence.handle(heartbeat(), at: time(2)).isEmpty)
        #expect(presence.handle(stalled, at: time(3)).count == 1)
        // The member ends, and is in no group.
        for now in stride(from: 3, to: 9, by: 0.5) { _ = presence.check(holders: [], owners: [], at: time(now)) }
        #expect(presence.handle(stalled, at: time(9)).count == 1, "nothing is remembered of it")
    }

    @Test("A client that comes back has a new lease")
    func comeback() {
        var presence = LiveClients(at: time(0))
        _ = silence(&presence, from: 0, to: 6)
        _ = presence.check(holders: [], owners: [], at: time(6.2))
        #expect(silence(&presence, from: 6.4, to: 11) == nil)
    }
}
