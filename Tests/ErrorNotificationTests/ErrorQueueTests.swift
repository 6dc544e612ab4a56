import Contracts
import Foundation
import Testing

@testable import ErrorNotification

@Suite("Error queue")
struct ErrorQueueTests {
    private func entry(_ id: String) -> ErrorQueue.Entry {
        ErrorQueue.Entry(id: id, error: ApplicationError(code: "test", message: "error \(id)"))
    }

    @Test("The first error is shown, and the others wait in order")
    func order() {
        var queue = ErrorQueue()
        #expect(queue.banner.error == nil)
        let arrivals = ["a", "b", "c"].map { queue.add(entry($0)) }
        #expect(arrivals == [.shown, .queued, .queued])
        #expect(queue.banner.errorID == "a")
        #expect(queue.banner.waiting == 2)
        let wasDismissed = queue.dismiss("a")
        #expect(wasDismissed)
        #expect(queue.banner.errorID == "b")
        #expect(queue.banner.waiting == 1)
    }

    @Test("No error is shown after the last one is dismissed")
    func lastOne() {
        var queue = ErrorQueue()
        _ = queue.add(entry("a"))
        let wasDismissed = queue.dismiss("a")
        #expect(wasDismissed)
        #expect(queue.shown == nil && queue.waiting.isEmpty)
        #expect(queue.banner.error == nil)
    }

    @Test("A waiting error is removed when it is dismissed")
    func waitingDismissed() {
        var queue = ErrorQueue()
        for id in ["a", "b", "c"] { _ = queue.add(entry(id)) }
        let wasDismissed = queue.dismiss("b")
        #expect(wasDismissed)
        #expect(queue.banner.errorID == "a")
        #expect(queue.waiting.map(\.id) == ["c"])
    }

    @Test("The dismissal of an unknown error changes nothing")
    func unknown() {
        var queue = ErrorQueue()
        _ = queue.add(entry("a"))
        let before = queue
        let wasDismissed = queue.dismiss("b")
        #expect(!wasDismissed)
        #expect(queue == before)
    }

    @Test("A dismissed error is not shown again, even if several processes report it, also after a restart")
    func dismissedBefore() throws {
        var queue = ErrorQueue()
        _ = queue.add(entry("a"))
        _ = queue.dismiss("a")
        queue = try JSONDecoder().decode(ErrorQueue.self, from: JSONEncoder().encode(queue))
        let again = queue.add(entry("a"))
        #expect(again == .known && queue.shown == nil)
        let other = queue.add(entry("b"))
        #expect(other == .shown)
    }

    @Test("The queue of the previous version can be read")
    func earlierVersion() throws {
        let json = #"{"shown":{"id":"a","error":{"code":"test","message":"m","severity":"error"}},"waiting":[]}"#
        let queue = try JSONDecoder().decode(ErrorQueue.self, from: Data(json.utf8))
        #expect(queue.shown?.id == "a")
    }

    @Test("An error is shown once, even if its message arrives twice")
    func twice() {
        var queue = ErrorQueue()
        _ = queue.add(entry("a"))
        _ = queue.add(entry("b"))
        let arrivals = ["a", "b"].map { queue.add(entry($0)) }
        #expect(arrivals == [.known, .known])
        #expect(queue.waiting.count == 1)
    }

    @Test("A full queue reports it, and keeps its errors")
    func full() {
        var queue = ErrorQueue()
        for number in 0...ErrorQueue.capacity { _ = queue.add(entry("\(number)")) }
        let before = queue
        let arrival = queue.add(entry("one too many"))
        #expect(arrival == .full)
        #expect(queue == before)
        #expect(queue.banner.waiting == ErrorQueue.capacity)
    }

    @Test("A severe error is shown for longer")
    func displayTime() {
        #expect(ApplicationError.Severity.info.displayTime < ApplicationError.Severity.warning.displayTime)
        #expect(ApplicationError.Severity.warning.displayTime < ApplicationError.Severity.error.displayTime)
    }
}
