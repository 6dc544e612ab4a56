import Foundation
import Testing

@Suite("Program of README")
struct ReadmeTests {
    @Test("The program has at most 15 lines, and its test at most 6")
    func program() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../README.md").standardizedFileURL
        let readme = try String(contentsOf: file, encoding: .utf8)
        let program = try #require(readme.firstMatch(of: #/(?s)```swift\n(.*?)```/#)).1
        let lines = program.split(separator: "\n").filter { !$0.hasPrefix("import ") }
        let test = lines.drop { !$0.hasPrefix("@Test") }
        #expect(lines.count - test.count <= 15)
        #expect((1...6).contains(test.count))
    }
}
