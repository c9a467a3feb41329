"""Common given names of several languages, with which names of people are recognised."""

# fmt: off
GIVEN_NAMES = frozenset(
    """
    aaron abdul adam adrian agnes ahmed aisha alan albert alejandro alex alexander alexandra
    alfred ali alice alicia allison amanda amber amelia amir amy ana anders andrea andreas
    andrew andrzej angela angelica anita ann anna anne annette annie anthony antonio arthur
    ashley astrid audrey barbara barry beatrice ben benjamin bernard beth betty beverly bill
    birgit björn bjorn bob bonnie boris brad bradley brandon brenda brian bruce bruno bryan
    camila carl carla carlos carmen carol caroline carolyn catherine cecilia charles charlotte
    cheryl chris christian christina christine christopher claire clara claudia connie craig
    cristina crystal cynthia dagmar dan daniel daniela danielle david dawn deborah debra dennis
    diana diane dieter diego dmitri dolores dominic don donald donna doris dorothy douglas
    edith eduardo edward edwin eleanor elena elizabeth ella ellen elsa emil emily emma enrique
    eric erica erik erika ernest esther eugene eva evelyn ewa fatima felix fernando florence
    frances francesco francis francisco francois frank franz fred frederick fritz gabriel
    gabriela gary george gerald gertrude giovanni gita giulia giuseppe gladys glenn gloria
    grace greg gregory greta guillermo gunnar gustav hannah hans harold harry hassan heather
    hector heidi heinz helen helena helga henrik henry herbert hiroshi holly howard hugo
    hussein ian ibrahim ida igor ilse ines ingrid irena irene irina irma isaac isabel ivan jack
    jacob jacqueline jaime jakob james jamie jan jane janet janice jason javier jean jeff
    jeffrey jennifer jeremy jerry jessica jesus jim jimmy joan joann joanna joao joe johan
    johanna john johnny jonathan jordi jorge jose josé josef joseph joshua joyce juan juana
    judith judy julia julian julie jürgen jurgen justin karen karin karl kate katherine
    kathleen kathryn kathy katja keith kelly ken kenneth kevin khaled kim kimberly klaus
    kristen krzysztof kurt kyle lars larry laura lauren lawrence lea lena leo leon leonard
    leslie leticia lillian linda lisa lois loretta lori louis louise luca lucas lucia lucía
    lucy luigi luis luisa luke luz lydia magdalena malcolm manfred manuel marc marco marcus
    margaret margarita maria maría mariana marie marilyn mario marion marjorie mark marlene
    marta martha martin marvin mary mateo mathias matthew maurice maxim megan mei melanie
    melissa michael michel michelle miguel mikhail mildred mohamed mohammed monica monika
    muhammad nadia nancy natalia natalie natasha nathan neil nicholas nicolas nicole nikolai
    nina noah nora norma norman olaf olga oliver olivia omar oscar oskar otto pablo pamela
    paola patricia patrick paul paula pauline pedro peggy per peter petra philip philippe
    phyllis pierre piotr rachel rafael raj ralph ramon randy raquel raul raymond rebecca regina
    renate ricardo richard rita robert roberta roberto robin rodrigo roger roland ronald rosa
    rosalie rosemary roy russell ruth ryan sabine sally samantha samuel sandra sara sarah scott
    sean sebastian sergei sergio sharon sheila shirley silvia simon sofia sonia sophie stanley
    stefan stella stephanie stephen steve steven sue susan susanne suzanne sven sylvia tamara
    tanya tatiana teresa terry thelma theodore theresa thomas tiffany tim timothy tina todd tom
    tomas tony tracy ulrich ursula uwe valerie vanessa vera veronica victor victoria vincent
    virginia vivian vladimir walter wanda wayne wei wendy werner wilhelm william willie
    wolfgang yolanda yuki yusuf yvonne zoe
    """.split()  # noqa: SIM905 - a list of 500 strings would fill five pages
)
# fmt: on
