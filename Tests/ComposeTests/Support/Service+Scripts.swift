import Compose

extension Service {
    /// A service that runs a shell script.
    static func shell(_ name: String, _ script: String, after dependencies: [Dependency] = []) -> Service {
        Service(name: name, command: ["sh", "-c", script], dependencies: dependencies)
    }

    /// What a script runs to send one sd_notify message; perl is part of every Debian system.
    static func notify(_ message: String) -> String {
        "perl -MSocket -e 'socket(S,PF_UNIX,SOCK_DGRAM,0);send(S,\"\(message)\",0,pack_sockaddr_un($ENV{NOTIFY_SOCKET}))'"
    }

    /// Waits without a sleeping child that would have to be signalled too.
    static let forever = "exec sleep 1000"
}
