import Foundation
import Testing

@Suite("The README")
struct ReadmeTests {
    @Test("shows the program that these tests compile and run: at most 15 lines, and a test of at most 6")
    func program() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let program = try String(contentsOf: folder.appending(path: "ReadmeProgram.swift"), encoding: .utf8)
        let readme = try String(contentsOf: folder.appending(path: "../../README.md").standardized, encoding: .utf8)
        #expect(readme.contains("```swift\n\(program)```\n"))
        let lines = program.split(separator: "\n").filter { !$0.hasPrefix("import ") }
        let test = lines.drop { !$0.hasPrefix("@Test") }
        #expect(lines.count - test.count <= 15)
        #expect((1...6).contains(test.count))
    }
}
