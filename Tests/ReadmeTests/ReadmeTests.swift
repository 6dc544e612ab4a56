import Foundation
import Testing

@Suite("The README")
struct ReadmeTests {
    @Test("shows the program that these tests compile and run, in at most 40 lines")
    func program() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let program = try String(contentsOf: folder.appending(path: "ReadmeProgram.swift"), encoding: .utf8)
        let readme = try String(contentsOf: folder.appending(path: "../../README.md").standardized, encoding: .utf8)
        #expect(readme.contains("```swift\n\(program)```\n"))
        #expect(program.split(separator: "\n", omittingEmptySubsequences: false).count <= 41)
    }
}
