import Contracts
import Foundation
import Testing

@testable import ErrorNotification

@Suite("Error queue")
struct ErrorQueueTests {
    private func entry(_ id: String) -> ErrorQueue.Entry {
        ErrorQueue.Entry(id: id, error: ApplicationError(code: "test", message: "error \(id)"))
    }

    @Test("shows the first error and lets the others wait in their order")
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

    @Test("shows nothing once the last error is dismissed")
    func lastOne() {
        var queue = ErrorQueue()
        _ = queue.add(entry("a"))
        let wasDismissed = queue.dismiss("a")
        #expect(wasDismissed)
        #expect(queue.shown == nil && queue.waiting.isEmpty)
        #expect(queue.banner.error == nil)
    }

    @Test("takes an error that waits out of the queue when that is dismissed")
    func waitingDismissed() {
        var queue = ErrorQueue()
        for id in ["a", "b", "c"] { _ = queue.add(entry(id)) }
        let wasDismissed = queue.dismiss("b")
        #expect(wasDismissed)
        #expect(queue.banner.errorID == "a")
        #expect(queue.waiting.map(\.id) == ["c"])
    }

    @Test("is not changed by the dismissal of an error it does not have")
    func unknown() {
        var queue = ErrorQueue()
        _ = queue.add(entry("a"))
        let before = queue
        let wasDismissed = queue.dismiss("b")
        #expect(!wasDismissed)
        #expect(queue == before)
    }

    @Test("an error that was dismissed does not come back, though several processes tell of it, also after a restart")
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

    @Test("reads the queue that a version before this one has published")
    func earlierVersion() throws {
        let json = #"{"shown":{"id":"a","error":{"code":"test","message":"m","severity":"error"}},"waiting":[]}"#
        let queue = try JSONDecoder().decode(ErrorQueue.self, from: Data(json.utf8))
        #expect(queue.shown?.id == "a")
    }

    @Test("shows an error once, though its message may come twice")
    func twice() {
        var queue = ErrorQueue()
        _ = queue.add(entry("a"))
        _ = queue.add(entry("b"))
        let arrivals = ["a", "b"].map { queue.add(entry($0)) }
        #expect(arrivals == [.known, .known])
        #expect(queue.waiting.count == 1)
    }

    @Test("says when it is full, and keeps what it has")
    func full() {
        var queue = ErrorQueue()
        for number in 0...ErrorQueue.capacity { _ = queue.add(entry("\(number)")) }
        let before = queue
        let arrival = queue.add(entry("one too many"))
        #expect(arrival == .full)
        #expect(queue == before)
        #expect(queue.banner.waiting == ErrorQueue.capacity)
    }

    @Test("gives grave errors more time")
    func displayTime() {
        #expect(ApplicationError.Severity.info.displayTime < ApplicationError.Severity.warning.displayTime)
        #expect(ApplicationError.Severity.warning.displayTime < ApplicationError.Severity.error.displayTime)
    }
}
