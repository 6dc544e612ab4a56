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

    @Test("A page is short, has a program, and ends with links to the types to know")
    func form() throws {
        for (library, page) in try Self.pages() {
            #expect(page.hasPrefix("# ``\(library)``\n\n"), "\(library)")
            let parts = page.split(separator: "\n## Topics\n\n### Types to know\n\n", omittingEmptySubsequences: false)
            try #require(parts.count == 2, "\(library) has no types to know")
            let types = parts[1].split(separator: "\n")
            #expect(types.allSatisfy { $0.wholeMatch(of: #/- ``[\w/]+``/#) != nil }, "\(library)")
            #expect(Set(types).count == types.count && types.count == Self.typeCounts[library] ?? 5, "\(library)")
            #expect(page.contains("```swift\n"), "\(library) has no program")
            let words = page.replacing(#/(?s)```.*?```/#, with: "").split { $0.isWhitespace }
            #expect(words.count <= 120, "\(library) has \(words.count) words")
        }
    }
}
