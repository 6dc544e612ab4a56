internal import Foundation
internal import Support

/// The places in an app's package for new files.
package struct PackageLayout: Hashable, Sendable {
    /// The path of the folder with Package.swift.
    package let root: String
    /// The folder of messages, relative to the root, such as `Sources/Coffee/Vocabulary`.
    package let vocabulary: String
    /// The name of the target that contains the folder of messages.
    package let module: String
    /// The content of Package.swift.
    let manifest: String

    /// - Parameters:
    ///   - directory: a folder in the package.
    ///   - vocabulary: the folder of messages, relative to `directory`; nil to search Sources for a folder named
    ///     Vocabulary.
    /// - Throws: ``ScaffoldError`` if there is no package, or the folder of messages cannot be determined.
    package init(
        around directory: String, vocabulary: String? = nil
    ) throws(ScaffoldError) {
        let folders = sequence(first: directory) { "/" == $0 ? nil : ($0 as NSString).deletingLastPathComponent }
        let root = folders.first { FileManager.default.fileExists(atPath: "\($0)/Package.swift") }
        guard let root, let manifest = try? String(contentsOfFile: "\(root)/Package.swift", encoding: .utf8) else {
            throw ScaffoldError(
                .file, "there is no Package.swift in \(directory) or a folder above",
                recovery: "change to the folder of your app's package")
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

    /// The paths of the app's flows: `flow.yaml`, or otherwise the YAML files in the folder `flows`. If the package has
    /// none of them, `flow.yaml`.
    package var flows: [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/flows")) ?? []
        let flows = files.filter { $0.ends(with: ".yaml") || $0.ends(with: ".yml") }.sorted().map { "flows/\($0)" }
        return exists("flow.yaml") || flows.isEmpty ? ["flow.yaml"] : flows
    }

    /// The folder of the module's tests, relative to the root.
    var tests: String { "Tests/\(module)Tests" }
    /// True if Package.swift has a target for the module's tests.
    var hasTests: Bool { manifest.contains(scalars: "\"\(module)Tests\"") }

    /// The source with imports that suit this package. If Package.swift does not enable `InternalImportsByDefault`, the
    /// access levels of the imports are removed.
    func spelled(_ source: String) -> String {
        if manifest.contains(scalars: "InternalImportsByDefault") { return source }
        return source.replacing(scalars: "package import", with: "import").replacing(
            scalars: "internal import", with: "import")
    }

    /// The content of a file of the package. Nil if the file cannot be read or is not UTF-8.
    func text(of path: String) -> String? {
        try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }

    /// The path of the file for a new message: the source file of its kind, or a new file if the package has one file
    /// for each message.
    func path(of message: MessageName) -> String {
        let pages = MessageName.pages.map { "\(vocabulary)/\($0).swift" }
        if !pages.contains(where: exists), sources.contains(where: isFileOfMessage) {
            let folder = "\(vocabulary)/\(message.role.page)"
            return "\(exists(folder) ? folder : vocabulary)/\(message.name).swift"
        }
        return "\(vocabulary)/\(message.role.page).swift"
    }

    /// The source file that declares a message.
    ///
    /// - Returns: nil if no file declares the message.
    /// - Throws: ``ScaffoldError`` if a file contains the name of the message and cannot be parsed.
    func page(declaring message: MessageName) throws(ScaffoldError) -> VocabularyPage? {
        for path in sources {
            guard let text = text(of: path), SwiftOutline.names(in: text).contains(message.name) else { continue }
            let page = try VocabularyPage(text, path: path)
            if page.declares(message) { return page }
        }
        return nil
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: "\(root)/\(path)") }

    /// The paths of all Swift sources in the folder of messages.
    private var sources: [String] {
        let paths = FileManager.default.enumerator(atPath: "\(root)/\(vocabulary)")?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.ends(with: ".swift") }.sorted().map { "\(vocabulary)/\($0)" }
    }

    /// True if the file has the name of a message that it declares.
    private func isFileOfMessage(_ path: String) -> Bool {
        let name = ((path as NSString).lastPathComponent as NSString).deletingPathExtension
        let messages = text(of: path)?.matches(of: #/\bstruct\s+`?(\w+)`?\s*:\s*\w+Message\b/#.byScalar) ?? []
        return messages.contains { $0.1 == name }
    }

    private static func path(_ path: String, in directory: String, from root: String) throws(ScaffoldError) -> String {
        let url = URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: directory, isDirectory: true))
        let folder = url.standardizedFileURL.path
        guard let path = folder.removing(prefix: "\(root)/") else {
            throw ScaffoldError(
                .argument, "\(folder) is not in the package \(root)", recovery: "name a folder of the package with --in"
            )
        }
        return String(path)
    }

    private static func vocabulary(in root: String) throws(ScaffoldError) -> String {
        let found = (FileManager.default.enumerator(atPath: "\(root)/Sources")?.compactMap { $0 as? String } ?? [])
            .filter { ($0 as NSString).lastPathComponent == "Vocabulary" }.map { "Sources/\($0)" }
        guard let folder = found.first, found.count == 1 else {
            let which = found.isEmpty ? "no folder" : "more than one folder"
            throw ScaffoldError(
                .package, "\(which) in \(root)/Sources is named Vocabulary",
                recovery: "name the folder of your messages with --in, such as --in Sources/App/Vocabulary")
        }
        return folder
    }

    /// The innermost folder that has the name of a target.
    private static func module(of folder: String, in manifest: String) throws(ScaffoldError) -> String {
        let names = folder.split(scalar: "/").dropFirst().map(String.init)
        guard let module = names.last(where: { manifest.contains(scalars: "\"\($0)\"") }) else {
            throw ScaffoldError(
                .package, "no target in Package.swift has the name of a folder in \(folder)",
                recovery: "name the folder of a target with --in")
        }
        return module
    }
}
