import Contracts
import Device
import DeviceTestSupport
import EventBus
import Navigation
import Testing

@testable import TerminalDevice

@Suite("Lines of a user")
struct PersonTests {
    @Test("An unknown choice is reported at once, and the user can type again")
    func interactiveMiss() throws {
        var script = SessionScript(.interactive)
        _ = try script.show(.sample(root: "launch"))
        let outputs = try script.handle(.line("7"))
        #expect(outputs.said == ["There is no '7' to pick here."])
        #expect(outputs.wantsLine)
    }

    @Test("The last requested URL is kept until the user chooses something else, and opens with o")
    func openURL() throws {
        var script = SessionScript(.interactive)
        _ = try script.show(.sample(root: "serviceSelection"))
        let none = try script.handle(.line("o"))
        #expect(none.browsed.isEmpty && none.said == ["There is no URL to open here."] && none.wantsLine)
        let origin = Origin(platform: "ios")
        for url in ["https://a.b", "https://c.d"] {
            let request = DomainEvent.URLOpenRequested(url: url)
            _ = try script.handle(.message(Envelope(request, source: "test/1", origin: origin)))
        }
        let outputs = try script.handle(.line("o"))
        #expect(outputs.browsed == ["https://c.d"] && outputs.published.isEmpty && outputs.wantsLine)
        #expect(script.session.scene?.lines().last == "o open the URL   q quit")
        let error = ApplicationError(code: "a.b", message: "no")
        _ = try script.handle(.message(.answer(Document.ErrorBanner(errorID: "e1", error: error))))
        _ = try script.handle(.line("x"))
        #expect(script.session.scene?.url?.text == "https://c.d")
        _ = try script.handle(.line("1"))
        #expect(script.session.scene?.url == nil)
    }

    @Test("A URL that must not be opened is reported, and cannot be opened")
    func unopenable() throws {
        var script = SessionScript(.interactive)
        _ = try script.show(.sample(root: "serviceSelection"))
        let request = DomainEvent.URLOpenRequested(url: "file:///etc/passwd")
        let outputs = try script.handle(
            .message(Envelope(request, source: "test/1", origin: Origin(platform: "ios"))))
        #expect(outputs.opened == ["file:///etc/passwd"])
        #expect(try script.handle(.line("o")).browsed.isEmpty)
    }
}
