internal import Foundation
internal import Support

/// The places in an app's package for new files, as `segue new app` arranges them.
package struct PackageLayout: Hashable, Sendable {
    /// The path of the folder with Package.swift.
    package let root: String
    /// The folder of messages, relative to the root, such as `Sources/Coffee/Vocabulary`.
    package let vocabulary: String
    /// The module that contains the folder of messages.
    package let module: String
    /// True if an import without an access level is internal.
    let hasInternalImports: Bool

    /// - Parameters:
    ///   - directory: a folder in the package.
    ///   - vocabulary: the folder of messages, relative to `directory`; nil to search Sources for a folder named
    ///     Vocabulary.
    ///   - module: the module of the messages; nil for the name of the folder in Sources.
    /// - Throws: ``ScaffoldError`` if there is no package, or the folder of messages or its module is not known.
    package init(
        around directory: String, vocabulary: String? = nil, module: String? = nil
    ) throws(ScaffoldError) {
        let folders = sequence(first: directory) { "/" == $0 ? nil : ($0 as NSString).deletingLastPathComponent }
        let root = folders.first { FileManager.default.fileExists(atPath: "\($0)/Package.swift") }
        guard let root, let manifest = try? String(contentsOfFile: "\(root)/Package.swift", encoding: .utf8) else {
            throw ScaffoldError(
                .file, "there is no Package.swift in \(directory) or a folder above",
                recovery: "change to the folder of your app's package")
        }
        self.root = root
        hasInternalImports = manifest.contains(scalars: "InternalImportsByDefault")
        if let vocabulary {
            self.vocabulary = try Self.path(vocabulary, in: directory, from: root)
        } else {
            self.vocabulary = try Self.vocabulary(in: root)
        }
        if let module { self.module = module } else { self.module = try Self.module(of: self.vocabulary) }
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

    /// The path of the file for a message.
    func path(of message: MessageName) -> String { "\(vocabulary)/\(message.fileName)" }

    /// The content of a file of the package. Nil if the file cannot be read or is not UTF-8.
    func text(of path: String) -> String? {
        try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: "\(root)/\(path)") }

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

    private static func module(of folder: String) throws(ScaffoldError) -> String {
        let names = folder.split(scalar: "/")
        guard names.count > 1, names[0] == "Sources" else {
            throw ScaffoldError(
                .argument, "\(folder) is not in a folder of Sources, so its module is not known",
                recovery: "name the module with --module")
        }
        return String(names[1])
    }
}
