import Foundation
import SystemSupport

/// The compose file from which a project was started. Two files with one project name must not take over each other's
/// services.
extension Project {
    private var originPath: String { "\(stateDirectory)/compose-file" }

    /// The path of the first compose file of the last `up`. Nil if it is not known.
    private var origin: String? { try? String(contentsOfFile: originPath, encoding: .utf8) }

    /// Records the first compose file of an `up`.
    ///
    /// - Parameter file: the path as the user wrote it. For `-`, standard input, every text counts as the same file.
    /// - Throws: ``ComposeError`` `other-compose-file` if the project runs from another file; `stack-file`.
    package func record(file: String) throws(ComposeError) {
        let path = Self.absolute(file)
        try check(path)
        try ComposeError.makeFolder(stateDirectory)
        do {
            try AtomicFile(originPath).replace(with: Data(path.utf8), isDurable: false, hasOtherWriters: true)
        } catch {
            throw ComposeError(code: "stack-file", message: "cannot write \(originPath): \(error)")
        }
    }

    /// - Throws: ``ComposeError`` `other-compose-file` if the project runs from another file.
    package func checkOrigin(file: String) throws(ComposeError) {
        try check(Self.absolute(file))
    }

    private func check(_ path: String) throws(ComposeError) {
        guard let origin, origin != path, try ProjectStatus.read(self)?.isSupervisorAlive == true else { return }
        throw ComposeError(
            code: "other-compose-file",
            message: "project '\(name)' is running from \(Self.shown(origin)), not from \(Self.shown(path))",
            recovery: "choose another name with -p NAME, or stop the project with 'segue down -p \(name)'")
    }

    private static func absolute(_ file: String) -> String {
        file == "-" ? file : URL(fileURLWithPath: file).resolvingSymlinksInPath().standardizedFileURL.path
    }

    private static func shown(_ path: String) -> String { path == "-" ? "standard input" : path }
}
