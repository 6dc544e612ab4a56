import Foundation
import Testing

@Suite("Programs of README and docs/programs.md")
struct ReadmeTests {
    @Test("The page has the program that these tests compile and run", arguments: ["Timer", "Alert", "Link"])
    func learned(name: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let program = try String(contentsOf: folder.appending(path: "\(name)Program.swift"), encoding: .utf8)
        let page = try String(
            contentsOf: folder.appending(path: "../../docs/programs.md").standardized, encoding: .utf8)
        #expect(page.contains("```swift\n\(program)```\n"))
    }

    @Test("The README has the program that these tests compile and run, in at most 15 lines, and its test")
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
