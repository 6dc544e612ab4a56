import Foundation
import OrderedCollections

/// One reading of a stack's files.
struct ComposeReading {
    let texts: [ComposeLoader.Text]
    let directory: ComposePath
    let environment: ComposeEnvironment
    let findings: ComposeFindings

    init(
        _ texts: [ComposeLoader.Text], directory: ComposePath, environment: ComposeEnvironment,
        findings: ComposeFindings = ComposeFindings()
    ) {
        self.texts = texts
        self.directory = directory
        self.environment = environment
        self.findings = findings
    }

    /// - Throws: ``ComposeError`` when one of the files cannot be read.
    init(paths: [String], environmentFiles: [String], environment: [String: String]) throws(ComposeError) {
        let findings = ComposeFindings()
        let texts = try paths.map { path throws(ComposeError) in try Self.text(of: path, .compose) }
        let files = try environmentFiles.map { path throws(ComposeError) in try Self.text(of: path, .environment) }
        let directory = texts.first?.path.directory ?? Self.current
        let process = ComposeEnvironment(environment)
        self.init(
            texts, directory: directory,
            environment: files.isEmpty
                ? process.adding(usualFileIn: directory, findings: findings)
                : process.adding(files, findings: findings),
            findings: findings)
    }

    /// With gaps where there are mistakes, which ``findings`` has.
    func stack() -> Stack {
        let loader = ComposeLoader(findings: findings)
        let project = loader.open(texts, directory: directory, environment: environment)
        let names = project.ports.compactMap(\.scalar?.text)
        let tree = loader.tree(of: project, offered: OfferedVariables.names(ports: names))
        return tree.map { loader.reader.stack($0, of: project, directory: directory.absolute) }
            ?? Stack(directory: directory.absolute, services: [])
    }

    /// What a person names a file as.
    enum Kind: String {
        case compose, environment

        fileprivate var flag: String { self == .compose ? "-f" : "--env-file" }
    }

    static func text(of path: String, _ kind: Kind) throws(ComposeError) -> ComposeLoader.Text {
        let place = ComposePath(shown: path, absolute: current.resolving(path).absolute)
        do {
            return ComposeLoader.Text(path: place, text: try ComposeText.read(path == "-" ? path : place.absolute))
        } catch {
            let isThere = path == "-" || FileManager.default.fileExists(atPath: place.absolute)
            let usual =
                isThere ? "it has to be UTF-8 text that you may read" : "name an existing file with \(kind.flag)"
            throw ComposeError(
                code: "\(kind)-file-unreadable", message: "cannot read the \(kind) file \(path)",
                recovery: error.hint ?? usual)
        }
    }

    private static var current: ComposePath {
        ComposePath(shown: "", absolute: FileManager.default.currentDirectoryPath)
    }
}
