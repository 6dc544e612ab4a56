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

    @Test("The window opens when messages follow soon, and grows up to its maximum")
    func grows() {
        #expect(window(after: []).length == .zero)
        #expect(window(after: [300]).length == PollingWindow.first)
        #expect(window(after: [300, 300, 300]).length == .microseconds(200))
        #expect(window(after: Array(repeating: 400, count: 10)).length == maximum)
    }

    @Test("A message within the window does not change it")
    func within() {
        #expect(window(after: [300, 300, 1, 100]).length == .microseconds(100))
    }

    @Test("The window shrinks and closes when messages take long")
    func shrinks() {
        let open = Array(repeating: 400, count: 10)
        #expect(window(after: open + [401]).length == .microseconds(200))
        #expect(window(after: open + [401, 1000, 1_000_000]).length == .microseconds(50))
        #expect(window(after: open + [401, 1000, 1_000_000, 5000]).length == .zero)
    }

    @Test("A maximum of zero keeps the window closed")
    func closed() {
        var window = PollingWindow(maximum: .zero)
        for wait in [1, 50, 400] { window.adapt(to: .microseconds(wait)) }
        #expect(window.length == .zero)
    }
}
