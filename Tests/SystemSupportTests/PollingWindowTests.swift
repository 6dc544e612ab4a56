import Testing

@testable import SystemSupport

@Suite("Polling window")
struct PollingWindowTests {
    private let maximum = Duration.microseconds(400)

    private func window(after waits: [Int]) -> PollingWindow {
        var window = PollingWindow(maximum: maximum)
        for wait in waits { window.adapt(to: .microseconds(wait)) }
        return window
    }

    @Test("it opens when news comes soon, and grows while news comes soon after it, to its maximum")
    func grows() {
        #expect(window(after: []).length == .zero)
        #expect(window(after: [300]).length == PollingWindow.first)
        #expect(window(after: [300, 300, 300]).length == .microseconds(200))
        #expect(window(after: Array(repeating: 400, count: 10)).length == maximum)
    }

    @Test("news within it leaves it as it is")
    func within() {
        #expect(window(after: [300, 300, 1, 100]).length == .microseconds(100))
    }

    @Test("it shrinks when news takes long, and closes")
    func shrinks() {
        let open = Array(repeating: 400, count: 10)
        #expect(window(after: open + [401]).length == .microseconds(200))
        #expect(window(after: open + [401, 1000, 1_000_000]).length == .microseconds(50))
        #expect(window(after: open + [401, 1000, 1_000_000, 5000]).length == .zero)
    }

    @Test("a maximum of nothing keeps it closed")
    func closed() {
        var window = PollingWindow(maximum: .zero)
        for wait in [1, 50, 400] { window.adapt(to: .microseconds(wait)) }
        #expect(window.length == .zero)
    }
}
