import Contracts
import EventBus
import Foundation
import SegueTestSupport
import TestSupport
import Testing

@testable import Consuming

@Suite("Open timers of a process", .timeLimit(.minutes(1)))
struct OpenTimersTests {
    private let clock = ManualClock()
    private let timers: OpenTimers
    private let partitions: Set = [Partition(subject: "anna")]

    init() {
        timers = OpenTimers(clock: ServiceClock(clock: clock)) { _ in [] }
    }

    private func timer(_ id: String, of session: String = "anna", after delay: Duration = .seconds(2)) -> DurableTimer {
        timers.timer(DocumentName(Document.ScheduledCommand.type, subject: session, key: id), after: delay)
    }

    private var ids: Set<String?> { Set(timers.documents(of: "anna").map(\.key)) }

    @Test("The open timers are those recorded for the process's partitions")
    func taken() async throws {
        timers.apply(opened: [timer("sheet-1"), timer("sheet-2", of: "bert")], closed: [])
        try await timers.adopt(partitions, new: []) { [timer("sheet-1"), timer("sheet-3")] }
        #expect(ids == ["sheet-1", "sheet-3"])
        #expect(timers.documents(of: "bert").isEmpty)
    }

    @Test("A timer that was withdrawn by a batch whose reply was lost is not open")
    func withdrawn() async throws {
        timers.apply(opened: [timer("sheet-1")], closed: [])
        try await timers.adopt(partitions, new: []) { [] }
        #expect(ids.isEmpty)
    }

    @Test("A timer that closes while the recorded ones are read is not open, and one that opens is")
    func meanwhile() async throws {
        let (first, second) = (timer("sheet-1"), timer("sheet-2"))
        timers.apply(opened: [first], closed: [])
        try await timers.adopt(partitions, new: []) {
            timers.apply(opened: [second], closed: [first.id])
            return [first]
        }
        #expect(ids == ["sheet-2"])
        try await timers.adopt(partitions, new: []) { [first, second] }
        #expect(ids == ["sheet-1", "sheet-2"], "only what was closed during this reading stays closed")
    }

    @Test("A timer has the recorded time, even if the reply to the batch that changed it was lost")
    func changed() async throws {
        let id = timer("a").id
        let dates = [30.0, 10].map { Date(timeIntervalSinceNow: $0 - 20) }
        timers.apply(opened: [timers.timer(id, at: dates[0])], closed: [])
        try await timers.adopt(partitions, new: []) { [timers.timer(id, at: dates[1])] }
        #expect(try await timers.due().map(\.id) == [id])
    }

    @Test("Timers are opened again in partitions that another process may have changed")
    func new() async throws {
        timers.apply(opened: [timer("a", after: .seconds(1))], closed: [])
        clock.advance(by: .seconds(1))
        let due = try await timers.due()
        timers.fired(due[0], hasEnded: false)
        try await timers.adopt(partitions, new: []) { [timer("a", after: .zero)] }
        timers.renew()
        try await timers.adopt(partitions, new: partitions) { [timer("a", after: .zero)] }
        #expect(try await timers.due().map(\.id.key) == ["a"])
        #expect(!timers.isOpen(due[0]))
    }

    @Test("Timers are due once each, in the order of their times, and again after a drop of their partition")
    func due() async throws {
        timers.apply(opened: [timer("b", after: .seconds(2)), timer("a", after: .seconds(1))], closed: [])
        clock.advance(by: .seconds(1))
        #expect(try await timers.due().map(\.id.key) == ["a"])
        async let next = timers.due()
        try await clock.sleepers()
        clock.advance(by: .seconds(1))
        #expect(try await next.map(\.id.key) == ["b"])
        timers.renew()
        #expect(try await timers.due().map(\.id.key) == ["a", "b"])
    }

    @Test("A closed timer is not due, even if it was opened again with another time")
    func reopened() async throws {
        timers.apply(opened: [timer("a", after: .seconds(1))], closed: [])
        clock.advance(by: .seconds(1))
        let due = try await timers.due()
        timers.apply(opened: [timer("a", after: .seconds(5))], closed: [timer("a").id])
        #expect(!due.contains(where: timers.isOpen))
        async let next = timers.due()
        try await clock.sleepers()
        clock.advance(by: .seconds(5))
        #expect(try await next.allSatisfy(timers.isOpen))
    }

    @Test("The wait ends for a new timer that is due before the others")
    func earlier() async throws {
        timers.apply(opened: [timer("b", after: .seconds(30))], closed: [])
        async let next = timers.due()
        try await clock.sleepers()
        timers.apply(opened: [timer("a", after: .seconds(10))], closed: [])
        while clock.now.offset < .seconds(10) {
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        #expect(try await next.map(\.id.key) == ["a"])
    }
}
