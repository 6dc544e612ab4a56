import Foundation
import TestSupport
import Testing

@Suite("Files of docs/concepts.md")
struct ConceptsPageTests {
    @Test("A tap takes ten steps, and every file on its way exists, is linked once, and is one of at most forty")
    func steps() throws {
        let section = try Page("docs/concepts.md").section("One tap in ten steps").text
        let steps = section.matches(of: #/(?m)^(\d+)\. /#).compactMap { Int($0.1) }
        #expect(steps == Array(1...10))
        let files = section.matches(of: #/\]\(\.\.\/((?:Sources|config)\/[^)]+)\)/#).map { String($0.1) }
        #expect(files.count > 25)
        #expect(files.count <= 40)
        #expect(Set(files).count == files.count)
        for file in files {
            #expect(FileManager.default.fileExists(atPath: Repository.path(file)), "there is no \(file)")
        }
    }
}
