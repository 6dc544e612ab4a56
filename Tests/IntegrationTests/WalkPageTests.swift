import Foundation
import TestSupport
import Testing

@Suite("Files of docs/walk.md")
struct WalkPageTests {
    @Test("Every file on the way of a tap exists, is listed once, and is one of at most forty")
    func files() throws {
        let page = try String(contentsOfFile: Repository.path("docs/walk.md"), encoding: .utf8)
        let steps = page.matches(of: #/(?m)^\d+\. `(Sources/[^`]+)`/#).map { String($0.1) }
        #expect(steps.count > 30)
        #expect(steps.count <= 40)
        #expect(Set(steps).count == steps.count)
        for file in page.matches(of: #/`((?:Sources|config)/[^`]+)`/#).map({ String($0.1) }) {
            #expect(FileManager.default.fileExists(atPath: Repository.path(file)), "there is no \(file)")
        }
    }
}
