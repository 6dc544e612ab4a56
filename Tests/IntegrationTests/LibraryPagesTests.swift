import Foundation
import TestSupport
import Testing

/// The pages of which `make docs` makes a site, one in the catalogue of each library.
@Suite("Pages of the libraries")
struct LibraryPagesTests {
    /// The number of types in a page, for the libraries that have or extend fewer than five.
    private static let typeCounts = [
        "Coordinator": 1, "ErrorNotification": 1, "FlowFiles": 1, "NATSEventBus": 1, "ZeroMQEventBus": 1,
    ]

    /// The pages by the names of their libraries.
    private static func pages() throws -> [String: String] {
        let paths = try files(in: "Sources", ending: ".md").filter { $0.contains(".docc/") }
        return try Dictionary(
            uniqueKeysWithValues: paths.map { path in
                let library = try #require(path.wholeMatch(of: #/.*/(\w+)/\1\.docc/\1\.md/#), "\(path)").1
                return (String(library), try text(path))
            })
    }

    private static func files(in folder: String, ending: String) throws -> [String] {
        let names = FileManager.default.enumerator(atPath: Repository.path(folder))?.compactMap { $0 as? String }
        return try #require(names).filter { $0.hasSuffix(ending) }.map { "\(folder)/\($0)" }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: Repository.path(path), encoding: .utf8)
    }

    @Test("Each library of the package has a page, and no other module has one")
    func libraries() throws {
        let package = try Self.text("Package.swift")
        let libraries = package.matches(of: #/\.library\(name: "(\w+)"/#).map { String($0.1) }
        #expect(libraries.count > 10)
        #expect(try Set(Self.pages().keys) == Set(libraries))
    }

    @Test("A page is short, and ends with links to the types to know")
    func form() throws {
        for (library, page) in try Self.pages() {
            #expect(page.hasPrefix("# ``\(library)``\n\n"), "\(library)")
            let parts = page.split(separator: "\n## Topics\n\n### Types to know\n\n", omittingEmptySubsequences: false)
            try #require(parts.count == 2, "\(library) has no types to know")
            let types = parts[1].split(separator: "\n")
            #expect(types.allSatisfy { $0.wholeMatch(of: #/- ``[\w/]+``/#) != nil }, "\(library)")
            #expect(Set(types).count == types.count && types.count == Self.typeCounts[library] ?? 5, "\(library)")
            let words = page.replacing(#/(?s)```.*?```/#, with: "").split { $0.isWhitespace }
            #expect(words.count <= 120, "\(library) has \(words.count) words")
        }
    }

    @Test("The program of each page is in a test that is compiled")
    func programs() throws {
        let sources = try Self.files(in: "Tests", ending: ".swift").map(Self.text).map(Program.init)
        for (library, page) in try Self.pages() {
            let programs = page.matches(of: #/(?s)```swift\n(.*?)```/#).map { Program(String($0.1)) }
            #expect(!programs.isEmpty, "\(library) has no program")
            for program in programs {
                #expect(
                    sources.contains { $0.code.contains(program.code) && $0.imports.isSuperset(of: program.imports) },
                    "\(library): no test contains\n\(program.code)")
            }
        }
    }
}

/// Swift code and, apart from it, the modules that it imports: a test imports more of them.
private struct Program {
    let code: String
    let imports: Set<Substring>

    init(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        imports = Set(lines.filter { $0.hasPrefix("import ") })
        code = lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n").trimmingCharacters(in: .newlines)
    }
}
