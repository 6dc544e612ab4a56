import Foundation
import SystemSupport
import Testing

@testable import Compose

@Suite("Project")
struct ProjectTests {
    @Test(
        "The name comes from the flag, then the file, then the folder",
        arguments: [
            ("flag", "file", "/x/folder", "flag"), (nil, "file", "/x/folder", "file"),
            (nil, nil, "/x/My Focus.Player", "myfocusplayer"), (nil, nil, "/x/--a_b-c", "a_b-c"),
        ] as [(String?, String?, String, String)]
    )
    func name(flag: String?, file: String?, directory: String, expected: String) throws {
        #expect(try ProjectName.resolve(flag: flag, file: file, directory: directory) == expected)
    }

    @Test("An invalid name is refused", arguments: ["", "A", "a b", "../a", "-a", "a/b"])
    func badName(name: String) {
        #expect(throws: ComposeError.self) { try ProjectName.resolve(flag: name, directory: "/x") }
    }

    @Test("State and sockets are in the XDG folders, or in their defaults")
    func directories() throws {
        let set = try Project(name: "p", environment: ["XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r", "HOME": "/h"])
        #expect(set.stateDirectory == "/s/segue/p")
        #expect(try set.busAddress == "ipc:///r/segue/p/bus")
        let unset = try Project(name: "p", environment: ["TMPDIR": "/t/", "HOME": "/h"])
        #expect(unset.stateDirectory == "/h/.local/state/segue/p")
        #expect(unset.runtimeDirectory == "/t/segue-\(getuid())/p")
    }

    @Test("A runtime folder that others can enter, or that is a link, is not used")
    func insecure() throws {
        let scratch = try Scratch()
        mkdir(scratch.runtimeRoot, 0o755)
        let open = #expect(throws: ComposeError.self) { try scratch.project().prepare(services: []) }
        #expect(open?.code == "insecure-directory")
        rmdir(scratch.runtimeRoot)
        symlink(scratch.path, scratch.runtimeRoot)
        let link = #expect(throws: ComposeError.self) { try scratch.project().prepare(services: []) }
        #expect(link?.code == "insecure-directory")
    }

    /// What another user can put at the path of the folder of all projects.
    enum Trap: CaseIterable {
        /// A link to a folder of the attacked user.
        case link
        /// A folder that its maker can write to.
        case folder
    }

    @Test(
        "The folder of all projects is not used if another user has created it",
        arguments: Trap.allCases)
    func trap(_ trap: Trap) async throws {
        let scratch = try Scratch()
        let project = try scratch.project()
        let place = trap == .link ? "\(scratch.path)/victim" : scratch.runtimeRoot
        let own = "\(place)/\(project.name)"
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        // Only the folder of all projects is wrong.
        chmod(own, 0o700)
        if trap == .link {
            chmod(place, 0o700)
            symlink(place, scratch.runtimeRoot)
        } else {
            chmod(place, 0o777)
        }
        let planted = ["bus-address": "ipc:///theirs", "supervisor.json": "{}", "precious": "mine"]
        for (name, text) in planted { try text.write(toFile: "\(own)/\(name)", atomically: false, encoding: .utf8) }
        func isRefused(_ body: () async throws -> Void) async {
            let error = await #expect(throws: ComposeError.self) { try await body() }
            #expect(
                error?.code == "insecure-directory" && error?.message.hasPrefix("\(scratch.runtimeRoot) is ") == true)
        }
        await isRefused { _ = try project.busAddress }
        await isRefused { _ = try ProjectStatus.read(project) }
        await isRefused { try project.removeRuntimeDirectory() }
        await isRefused { _ = try await project.stop() }
        await isRefused { try project.prepare(services: []) }
        await isRefused { try project.announce(bus: "ipc:///x") }
        await isRefused { _ = try project.notifySocket(at: project.notifyPath(of: "a")) }
        do {
            // Without the check, the other user would get the request.
            let listener = try UnixSocket(.stream, boundTo: project.controlPath)
            let client = ControlClient(project: project, patience: .seconds(1))
            await isRefused { _ = try await client.send(.stop(services: [], grace: nil)) }
            withExtendedLifetime(listener) {}
        }
        let supervisor = try scratch.supervisor(scratch.stack([]))
        await isRefused { try await supervisor.run() }
        let names = try FileManager.default.contentsOfDirectory(atPath: own)
        #expect(Set(names) == Set(planted.keys))
        for (name, text) in planted {
            #expect(try String(contentsOfFile: "\(own)/\(name)", encoding: .utf8) == text)
        }
    }

    @Test("A socket path that is too long is refused before anything starts")
    func longPath() throws {
        let scratch = try Scratch()
        let name = String(repeating: "n", count: 90)
        let error = #expect(throws: ComposeError.self) { try scratch.project(name).prepare(services: ["a"]) }
        #expect(error?.code == "socket-path-too-long")
    }
}
