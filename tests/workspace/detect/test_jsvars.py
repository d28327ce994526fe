"""Variables that JavaScript and TypeScript read."""

from harness_executor.workspace.detect.jsvars import variables
from harness_executor.workspace.detect.values import Variable


def read(text: str) -> dict[str, Variable]:
    """The variables of a file, by name."""
    return {one.name: one for one in variables(text, "src/env.ts")}


def needed(text: str) -> dict[str, str]:
    """Those that are required, each with the value that is known to fit."""
    return {name: one.test_value for name, one in read(text).items() if one.required}


def test_a_variable_that_is_asserted_is_required() -> None:
    """`process.env.X!` wants a value; one with a default, or merely read, does not."""
    text = "a(process.env.URL!); b(process.env['LIMIT'] ?? '5'); c(process.env?.MODE);"
    assert needed(text) == {"URL": ""}
    assert read(text)["LIMIT"].default == "5"


def test_variables_that_are_unpacked_are_read() -> None:
    """`const {…} = process.env` reads each name, whatever the code calls it."""
    text = (
        "const {\n  A_KEY,\n  LEVEL = 'info',\n  PORT: port = 3000,\n} = process.env;\nconst {x} = req.body"
    )
    assert {name: one.default for name, one in read(text).items()} == {
        "A_KEY": "",
        "LEVEL": "info",
        "PORT": "3000",
    }


def test_what_settings_must_have_is_required() -> None:
    """`getOrThrow` of a settings service wants a value, `get` does not."""
    text = "this.configService.getOrThrow<string>('JWT_KEY'); config.get('COLOUR'); cache.get('NOT_ONE')"
    assert needed(text) == {"JWT_KEY": ""}
    assert set(read(text)) == {"JWT_KEY", "COLOUR"}


def test_a_zod_schema_names_variables_and_what_they_take() -> None:
    """Choices, numbers and least lengths lead to a value; what has a default is not required."""
    text = """
    const schema = z.object({
      NODE_ENV: z.enum(['test', 'development', 'production']),
      WORKERS: z.coerce.number(),
      KEY: z
        .string()
        .min(32),
      LEVEL: z.string().default('info'),
      EXTRA: z.string().optional(),
    });
    export const env = schema.parse(process.env);
    """
    assert needed(text) == {
        "NODE_ENV": "development",
        "WORKERS": "60",
        "KEY": "test-only-0123456789abcdef012345",
    }
    assert read(text)["LEVEL"].default == "info"


def test_joi_has_to_say_what_is_required() -> None:
    """A key of Joi is required only if it says so."""
    text = "Joi.object({AA: Joi.string().required(), B: Joi.number(), }).validate(process.env)"
    assert needed(text) == {"AA": ""}


def test_a_fluent_schema_names_variables_too() -> None:
    """The keys of fluent-json-schema are given one by one."""
    text = "envSchema({schema: S.object().prop('AA', S.string().required()).prop('BB', S.string())})"
    assert needed(text) == {"AA": ""}
    assert set(read(text)) == {"AA", "BB"}


def test_envalid_gives_defaults_to_unit_tests_alone() -> None:
    """`devDefault: testOnly(…)` is no default for a server."""
    rules = "HOST: host({devDefault: testOnly('x')}), NN: num({devDefault: 3}), UU: str()"
    text = "cleanEnv(process.env, {" + rules + "})"
    assert needed(text) == {"HOST": "", "UU": ""}


def test_a_json_schema_lists_what_is_required() -> None:
    """The variables of @fastify/env are required where its list names them."""
    text = """
    import env from '@fastify/env'
    const schema = {type: 'object', required: ['TOKEN'], properties: {
      TOKEN: {type: 'string'}, SIZE: {type: 'integer', default: 3}, NOTE: {type: 'string'} }}
    """
    assert set(needed(text)) == {"TOKEN"}
    assert read(text)["SIZE"].default == "3"


def test_a_schema_of_something_else_is_not_read() -> None:
    """Rules for requests name no variables."""
    assert not read("const body = z.object({TITLE: z.string()}); body.parse(req.body)")


def test_a_schema_of_convict_names_its_variables() -> None:
    """A default of null has to be replaced; a list of formats gives the values to choose from."""
    text = (
        "convict({\n  mode: {format: ['production', 'dev'], default: null, env: 'MODE'},\n"
        "  db: {name: {doc: 'its name', format: String, default: null, env: 'DB_NAME'},\n"
        "       host: {default: '127.0.0.1', env: 'DB_HOST'}},\n})"
    )
    assert needed(text) == {"MODE": "dev", "DB_NAME": ""}
    assert read(text)["DB_HOST"].default == "127.0.0.1"


def test_the_schema_of_adonis_names_its_variables() -> None:
    """Each wants a value, and hosts and choices one that fits, unless it is optional."""
    text = """
    export default await Env.create(new URL('../', import.meta.url), {
      NODE_ENV: Env.schema.enum(['development', 'production', 'test'] as const),
      APP_KEY: Env.schema.string(),
      DB_HOST: Env.schema.string({ format: 'host' }),
      DB_PASSWORD: Env.schema.string.optional(),
      LIMITER_STORE: Env.schema.enum(['redis', 'memory'] as const),
      WORKERS: Env.schema.number(),
      PUBLIC: Env.schema.boolean(),
    })
    """
    found = {one.name: (one.required, one.test_value) for one in variables(text, "start/env.ts")}
    assert found == {
        "NODE_ENV": (True, "development"),
        "APP_KEY": (True, ""),
        "DB_HOST": (True, ""),
        "DB_PASSWORD": (False, ""),
        "LIMITER_STORE": (True, "redis"),
        "WORKERS": (True, "60"),
        "PUBLIC": (True, "false"),
    }
