internal import Foundation

/// Where an app's package has its things.
package struct PackageLayout: Hashable, Sendable {
    /// The folder of Package.swift.
    package let root: String
    /// The folder of messages, from the root: `Sources/Coffee/Vocabulary`.
    package let vocabulary: String
    /// The target that the vocabulary is in.
    package let module: String
    let manifest: String

    /// - Parameters:
    ///   - directory: in the package.
    ///   - vocabulary: the folder of messages, from there; `nil` looks for the one that is called Vocabulary.
    /// - Throws: ``ScaffoldError`` when there is no package, or it cannot be told where messages belong.
    package init(
        around directory: String, vocabulary: String? = nil
    ) throws(ScaffoldError) {
        let folders = sequence(first: directory) { $0 == "/" ? nil : ($0 as NSString).deletingLastPathComponent }
        let root = folders.first { FileManager.default.fileExists(atPath: "\($0)/Package.swift") }
        guard let root, let manifest = try? String(contentsOfFile: "\(root)/Package.swift", encoding: .utf8) else {
            throw ScaffoldError(
                "there is no Package.swift in \(directory) or above", recovery: "go to the folder of your app's package"
            )
        }
        self.root = root
        self.manifest = manifest
        if let vocabulary {
            self.vocabulary = try Self.path(vocabulary, in: directory, from: root)
        } else {
            self.vocabulary = try Self.vocabulary(in: root)
        }
        module = try Self.module(of: self.vocabulary, in: manifest)
    }

    /// The folder of the module's tests.
    var tests: String { "Tests/\(module)Tests" }
    /// Whether the package has a target for them.
    var hasTests: Bool { manifest.contains("\"\(module)Tests\"") }

    /// A source as this package spells imports: where they are not internal by default, levels may not be mixed.
    func spelled(_ source: String) -> String {
        if manifest.contains("InternalImportsByDefault") { return source }
        return source.replacing(#/(package|internal) import/#, with: "import")
    }

    /// - Returns: what a file of the package says; `nil` when there is none.
    func text(of path: String) -> String? {
        try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }

    /// Where a new message belongs: on the page of its kind, or in a file of its own if the package keeps one a message.
    func path(of message: MessageName) -> String {
        let pages = MessageName.pages.map { "\(vocabulary)/\($0).swift" }
        if !pages.contains(where: exists), sources.contains(where: isFileOfMessage) {
            let folder = "\(vocabulary)/\(message.role.page)"
            return "\(exists(folder) ? folder : vocabulary)/\(message.name).swift"
        }
        return "\(vocabulary)/\(message.role.page).swift"
    }

    /// The source of the vocabulary that declares a message.
    ///
    /// - Returns: `nil` when there is none.
    /// - Throws: ``ScaffoldError`` when one seems to, and it cannot be told where its types begin and end.
    func page(declaring message: MessageName) throws(ScaffoldError) -> VocabularyPage? {
        for path in sources {
            guard let text = text(of: path), SwiftOutline.names(in: text).contains(message.name) else { continue }
            let page = try VocabularyPage(text, path: path)
            if page.declares(message) { return page }
        }
        return nil
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: "\(root)/\(path)") }

    /// The Swift sources in the folder of messages.
    private var sources: [String] {
        let paths = FileManager.default.enumerator(atPath: "\(root)/\(vocabulary)")?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".swift") }.sorted().map { "\(vocabulary)/\($0)" }
    }

    private func isFileOfMessage(_ path: String) -> Bool {
        let name = ((path as NSString).lastPathComponent as NSString).deletingPathExtension
        let messages = text(of: path)?.matches(of: #/\bstruct\s+`?(\w+)`?\s*:\s*\w+Message\b/#) ?? []
        return messages.contains { $0.1 == name }
    }

    private static func path(_ path: String, in directory: String, from root: String) throws(ScaffoldError) -> String {
        let url = URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: directory, isDirectory: true))
        let folder = url.standardizedFileURL.path
        guard folder.hasPrefix("\(root)/") else {
            throw ScaffoldError("\(folder) is not in the package \(root)", recovery: "name another folder with --in")
        }
        return String(folder.dropFirst(root.count + 1))
    }

    private static func vocabulary(in root: String) throws(ScaffoldError) -> String {
        let found = (FileManager.default.enumerator(atPath: "\(root)/Sources")?.compactMap { $0 as? String } ?? [])
            .filter { ($0 as NSString).lastPathComponent == "Vocabulary" }.map { "Sources/\($0)" }
        guard let folder = found.first, found.count == 1 else {
            let which = found.isEmpty ? "no folder" : "more than one folder"
            throw ScaffoldError(
                "\(which) in \(root)/Sources is called Vocabulary",
                recovery: "name the folder of your messages with --in, such as --in Sources/App/Vocabulary")
        }
        return folder
    }

    /// The innermost folder that is called like a target.
    private static func module(of folder: String, in manifest: String) throws(ScaffoldError) -> String {
        let names = folder.split(separator: "/").dropFirst().map(String.init)
        guard let module = names.last(where: { manifest.contains("\"\($0)\"") }) else {
            throw ScaffoldError(
                "no target of Package.swift has \(folder) in it", recovery: "name another folder with --in")
        }
        return module
    }
}
