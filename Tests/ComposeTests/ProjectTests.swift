import Foundation
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

    @Test("A bad name is refused", arguments: ["", "A", "a b", "../a", "-a", "a/b"])
    func badName(name: String) {
        #expect(throws: ComposeError.self) { try ProjectName.resolve(flag: name, directory: "/x") }
    }

    @Test("State and sockets lie where XDG says, or in the usual places")
    func directories() throws {
        let set = try Project(name: "p", environment: ["XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r", "HOME": "/h"])
        #expect(set.stateDirectory == "/s/segue/p")
        #expect(set.busAddress == "ipc:///r/segue/p/bus")
        let unset = try Project(name: "p", environment: ["TMPDIR": "/t/", "HOME": "/h"])
        #expect(unset.stateDirectory == "/h/.local/state/segue/p")
        #expect(unset.runtimeDirectory == "/t/segue-\(getuid())/p")
    }

    @Test("A runtime folder that others may enter, or that is a link, is not used")
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

    @Test("A socket path that no socket can have is told before anything starts")
    func longPath() throws {
        let scratch = try Scratch()
        let name = String(repeating: "n", count: 90)
        let error = #expect(throws: ComposeError.self) { try scratch.project(name).prepare(services: ["a"]) }
        #expect(error?.code == "socket-path-too-long")
    }
}
