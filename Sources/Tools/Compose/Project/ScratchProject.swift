import Foundation
import Projects
import Support
import SystemSupport

/// A new project whose state is in a folder of its own, and of which nothing is left at its end.
///
/// The folder is in the folder of all projects' sockets, which only this user can enter. The process that makes the
/// project holds a lock on the folder until it removes it. The lock ends with the process, even if the process is
/// killed. So a folder whose lock is free is abandoned, and another process can remove it.
package struct ScratchProject: Sendable {
    /// The maximum time for an orderly stop.
    private static let patience: Duration = .seconds(20)

    package let project: Project
    private let root: PrivateFolder
    /// The name of the folder in ``root``. It begins with a dot, so it is not the name of a project.
    private let folder: String
    private let lock: FileLock

    /// Makes a project with a name such as `demo-1f2e3d4c`.
    ///
    /// - Throws: ``ComposeError`` `directory`, `insecure-directory`, `lock`.
    package static func make(
        prefix: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ComposeError) -> ScratchProject {
        let path = ProjectPlace.runtimeRoot(environment: environment)
        let root = try ComposeError.ofFolders { () throws(PrivateFolderError) in try PrivateFolder.make(path) }
        while true {
            // Eight digits.
            let name = "\(prefix)-\(String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16))"
            try ComposeError.makeFolder("\(root.path)/.\(name)")
            // Before the lock is acquired, another process may take the folder for an abandoned one, and remove it.
            if let project = try lock(name, in: root) { return project }
        }
    }

    /// The projects of ended processes. This process holds their locks now; it has to remove them.
    ///
    /// - Throws: ``ComposeError`` `directory`, `insecure-directory`, `lock`.
    package static func abandoned(
        prefix: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ComposeError) -> [ScratchProject] {
        let path = ProjectPlace.runtimeRoot(environment: environment)
        let root = try ComposeError.ofFolders { () throws(PrivateFolderError) in try PrivateFolder.open(path) }
        guard let root else { return [] }
        var projects: [ScratchProject] = []
        for entry in root.names {
            guard let id = entry.removing(prefix: ".\(prefix)-"), id.wholeMatch(of: #/[0-9a-f]{8}/#.byScalar) != nil,
                // This is nil for a symbolic link.
                (try? root.folder(entry)) != nil, let project = try lock("\(prefix)-\(id)", in: root)
            else { continue }
            projects.append(project)
        }
        return projects
    }

    /// Acquires the lock of a project. Nil if another process holds it, or has removed the folder.
    private static func lock(_ name: String, in root: PrivateFolder) throws(ComposeError) -> ScratchProject? {
        let path = "\(root.path)/.\(name)"
        let lock: FileLock?
        do {
            lock = try FileLock.acquire(folder: path)
        } catch {
            throw ComposeError(code: "lock", message: "cannot lock the folder \(error)")
        }
        guard let lock else { return nil }
        let project = try Project(name: name, stateRoot: "\(path)/segue", runtimeRoot: root.path)
        return ScratchProject(project: project, root: root, folder: ".\(name)", lock: lock)
    }

    /// The variables with which a process finds the project as its own, by name.
    package var variables: [String: String] {
        [ProjectPlace.nameVariable: project.name, "XDG_STATE_HOME": "\(root.path)/\(folder)"]
    }

    /// Stops the project, and removes its folder.
    ///
    /// - Throws: ``ComposeError`` if the project cannot be stopped or the folder cannot be removed;
    ///   `CancellationError`. The lock is released in any case.
    package func remove() async throws {
        // Until then, no other process takes the rest of the folder for an abandoned project.
        defer { lock.release() }
        try await project.stop(timeout: Self.patience)
        do {
            try root.remove(folder)
        } catch {
            throw ComposeError(code: "directory", message: "cannot remove \(error)")
        }
    }
}
