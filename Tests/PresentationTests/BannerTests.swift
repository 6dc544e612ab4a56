import Contracts
import EventBus
import Presentation
import Testing

@Suite("Error banner")
struct BannerTests {
    let error = ApplicationError(code: "a.b", message: "It broke", recovery: "Mend it.", severity: .warning)

    @Test("It lies over any screen, names what waits, and is dismissed by its id", arguments: ["launch", "nowhere"])
    func shown(screen: String) throws {
        let documents = try LatestDocuments(Document.ErrorBanner(errorID: "e1", error: error, waiting: 2))
        let banner = try #require(ScreenRegistry.content(of: screen, documents: documents).banner)
        #expect(banner.message == "It broke")
        #expect(banner.recovery == "Mend it.")
        #expect(banner.severity == .warning)
        #expect(banner.waiting == 2)
        #expect((banner.dismissal.command as? Command.ErrorDismissed)?.errorID == "e1")
    }

    @Test("It can be dismissed even where the flow allows no command at all")
    func unlimited() throws {
        let documents = try LatestDocuments(Document.ErrorBanner(errorID: "e1", error: error))
        #expect(ScreenRegistry.content(of: "launch", documents: documents, commands: []).banner != nil)
    }

    @Test("An empty document shows none")
    func hidden() throws {
        let documents = try LatestDocuments(Document.ErrorBanner(errorID: "e1", error: error), Document.ErrorBanner())
        #expect(ScreenRegistry.content(of: "launch", documents: documents).banner == nil)
    }
}
