import ServiceRuntime
import Services

@main
struct AuthService {
    static func main() async { await AuthServiceCommand.runProgram() }
}
