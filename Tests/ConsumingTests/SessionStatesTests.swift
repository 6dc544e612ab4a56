import EventBus
import Foundation
import Testing

@testable import Consuming

@Suite("Session states")
struct SessionStatesTests {
    private var states = SessionStates<Int>(limit: 2)

    private func message(_ session: String, _ offset: UInt64) -> Envelope {
        var message = Envelope(
            attributes: Attributes(
                type: MessageType(kind: .event, name: "Told"), source: "test/1", subject: session), data: Data())
        message.position = Position(epoch: 1, offset: offset)
        return message
    }

    @Test("The least recently used session is forgotten first")
    mutating func leastRecentlyUsed() {
        for (number, session) in ["a", "b"].enumerated() { states.restore(number, of: session) }
        states.use("a")
        states.restore(2, of: "c")
        #expect(states.isKnown("a") && !states.isKnown("b") && states.isKnown("c"))
    }

    @Test("A session that can still be undone is not forgotten")
    mutating func unrecorded() {
        states.restore(0, of: "a")
        states.set(1, because: message("a", 1))
        for session in ["b", "c", "d"] { states.restore(0, of: session) }
        #expect(states["a"] == 1)
        states.set(1, because: message("d", 2))
        states.restore(0, of: "new")
        #expect(states.isKnown("new"), "the session that is used now stays, even if all others can be undone")
        states.keep(Partition(subject: "d"), through: 2)
        states.keep(Partition(subject: "a"), through: 1)
        for session in ["e", "f"] { states.restore(0, of: session) }
        #expect(!states.isKnown("a") && states.count == 2)
    }

    @Test("An undone session has its earlier state, and a state that was never published is read again")
    mutating func revert() {
        states.restore(1, of: "a")
        states.set(2, because: message("a", 5))
        states.set(nil, because: message("a", 6))
        let partition = Partition(subject: "a")
        states.revert(partition, from: 6)
        #expect(states["a"] == 2)
        states.revert(partition, from: 5)
        #expect(states["a"] == 1)
        states.set(1, because: message("a", 7), isFirst: true)
        states.set(3, because: message("a", 7))
        states.revert(partition, from: 7)
        #expect(!states.isKnown("a"))
    }

    @Test("The sessions of a partition are forgotten together")
    mutating func forget() {
        states.restore(1, of: "a")
        states.restore(1, of: "b")
        states.set(2, because: message("a", 5))
        states.forget([Partition(subject: "a")])
        #expect(!states.isKnown("a") && states.isKnown("b"))
        states.revert(Partition(subject: "a"), from: 1)
        #expect(!states.isKnown("a"))
    }

    @Test("Many uses of few sessions take little memory, and keep their order")
    mutating func manyUses() {
        states.restore(1, of: "a")
        states.restore(1, of: "b")
        for _ in 1...10_000 { states.use("a") }
        states.restore(1, of: "c")
        #expect(states.isKnown("a") && !states.isKnown("b"))
    }
}
