import Foundation
import TestSupport
import Testing

@Suite("Swift code of the pages")
struct SwiftSamplesTests {
    private static let compiled = ["Sources", "Tests", "Examples"]
    private static let pages = ["docs", "Sources", "Examples", "README.md", "CONTRIBUTING.md", "SECURITY.md"]

    @Test("Each sample is in a file that is compiled")
    func samples() throws {
        let sources = try Self.files(in: Self.compiled, ending: ".swift").map(Self.data)
        var count = 0
        for page in Self.files(in: Self.pages, ending: ".md") {
            let text = String(decoding: try Self.data(page), as: UTF8.self)
            for block in text.matches(of: #/(?s)```swift\n(.*?)```/#) {
                let sample = SwiftCode(String(block.1))
                // To search for one line first is a hundred times faster.
                let line = Data(sample.longestLine.utf8)
                let isCompiled = sources.contains { source in
                    source.range(of: line) != nil
                        && SwiftCode(String(decoding: source, as: UTF8.self)).contains(sample)
                }
                #expect(isCompiled, "\(page): no file contains\n\(block.1)")
                count += 1
            }
        }
        #expect(count > 40)
    }

    private static func data(_ path: String) throws -> Data {
        try Data(contentsOf: URL(filePath: Repository.path(path)))
    }

    /// The paths of files in folders, and of the files that are listed themselves.
    private static func files(in paths: [String], ending: String) -> [String] {
        paths.flatMap { path in
            guard !path.hasSuffix(ending) else { return [path] }
            let names = FileManager.default.enumerator(atPath: Repository.path(path))?.compactMap { $0 as? String }
            return (names ?? []).filter { $0.hasSuffix(ending) && !$0.contains(".build/") }.map { "\(path)/\($0)" }
        }
    }
}

/// Swift code without indentation and empty lines, and apart from it, the modules that it imports.
private struct SwiftCode {
    private let code: String
    private let imports: Set<Substring>

    init(_ text: String) {
        let lines = text.split(separator: "\n")
        imports = Set(lines.filter { $0.hasPrefix("import ") })
        code =
            lines.filter { !$0.hasPrefix("import ") }.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }.joined(separator: "\n")
    }

    var longestLine: String {
        code.split(separator: "\n").max { $0.utf8.count < $1.utf8.count }.map(String.init) ?? ""
    }

    /// True if it has the code of a sample, and imports the same modules or more.
    func contains(_ sample: SwiftCode) -> Bool {
        code.contains(sample.code) && imports.isSuperset(of: sample.imports)
    }
}
