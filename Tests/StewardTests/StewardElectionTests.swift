import Foundation
import NATSLayout
import Testing

@testable import Steward

@Suite("Election of a steward")
struct StewardElectionTests {
    private let start = ContinuousClock.now
    private let other = StewardRecord(instance: UUID(), term: 4)

    private func time(_ seconds: Double) -> ContinuousClock.Instant { start + .milliseconds(Int(seconds * 1000)) }

    /// Makes the steps that the driver makes between two times.
    private func pass(_ election: inout StewardElection, from: Double, to: Double) -> [StewardElection.Step] {
        stride(from: from, through: to, by: 0.25).map { election.step(at: time($0)) }.filter { $0 != .wait }
    }

    @Test("The first steward of a bus is elected at once")
    func first() {
        var election = StewardElection(at: time(0))
        #expect(election.step(at: time(0)) == .check)
        let candidate = election.found(nil, at: time(0))
        #expect(candidate == StewardRecord(instance: election.instance, term: 1))
    }

    @Test("An election begins when the last steward has been silent for 5 seconds")
    func silence() {
        var election = StewardElection(at: time(0))
        #expect(election.step(at: time(0)) == .check)
        #expect(election.found(other, at: time(0)) == nil)
        #expect(pass(&election, from: 0.25, to: 3).isEmpty)
        election.handle(other, at: time(3))
        #expect(pass(&election, from: 3.25, to: 7.75).isEmpty)
        #expect(election.step(at: time(8)) == .check)
        #expect(election.found(other, at: time(8)) == StewardRecord(instance: election.instance, term: 5))
    }

    @Test("An election does not begin if another process was elected, or a late announcement came")
    func lateSigns() {
        var election = StewardElection(at: time(0))
        _ = election.step(at: time(0))
        _ = election.found(other, at: time(0))
        _ = pass(&election, from: 0.25, to: 5.25)
        #expect(election.found(StewardRecord(instance: UUID(), term: 5), at: time(5.25)) == nil)
        #expect(pass(&election, from: 5.5, to: 10).isEmpty)
        #expect(election.step(at: time(10.25)) == .check)
        election.handle(StewardRecord(instance: UUID(), term: 5), at: time(10.25))
        #expect(election.found(StewardRecord(instance: UUID(), term: 5), at: time(10.25)) == nil)
    }

    @Test("Time in which announcements may have been missed does not count")
    func absence() {
        var election = StewardElection(at: time(0))
        _ = election.step(at: time(0))
        _ = election.found(other, at: time(0))
        _ = pass(&election, from: 0.25, to: 4.5)
        // The process was stopped for a while.
        #expect(pass(&election, from: 20, to: 24.75).isEmpty)
        #expect(election.step(at: time(25)) == .check)
    }

    @Test("Announcements of a steward with an older term do not count")
    func deposedAnnouncement() {
        var election = StewardElection(at: time(0))
        _ = election.step(at: time(0))
        _ = election.found(other, at: time(0))
        _ = pass(&election, from: 0.25, to: 4)
        election.handle(StewardRecord(instance: UUID(), term: 3), at: time(4))
        #expect(!pass(&election, from: 4.25, to: 5).isEmpty)
    }

    @Test("A term ends when another record was written, or a higher term is announced")
    func end() {
        var election = StewardElection(at: time(0))
        _ = election.step(at: time(0))
        let own = StewardRecord(instance: election.instance, term: 1)
        election.won(own, at: time(0))
        #expect(election.step(at: time(0.25)) == .announce(own))
        #expect(election.step(at: time(0.5)) == .wait)
        #expect(election.found(own, at: time(0.5)) == nil)
        #expect(election.term == own)
        #expect(election.step(at: time(1.25)) == .announce(own))
        _ = election.found(other, at: time(1.25))
        #expect(election.term == nil)
        election.won(own, at: time(2))
        election.handle(other, at: time(2))
        #expect(election.term == nil)
    }
}
